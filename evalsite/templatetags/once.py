"""A form that makes something once, however often it is sent."""

import uuid

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def form_key() -> SafeString:
    """Write the field by which a second sending of the same form is known."""
    return format_html('<input type="hidden" name="form_key" value="{}">', uuid.uuid4().hex)
