"""What is running, what finished, what needs me."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """Show what is running, what finished and what needs the reader."""
    return render(request, "home/home.html")
