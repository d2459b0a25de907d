"""Runs: the list."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def run_list(request: HttpRequest) -> HttpResponse:
    """Show which runs there are."""
    return render(request, "runs/list.html")
