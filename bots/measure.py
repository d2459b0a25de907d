"""python -m bots.measure: the entry point of ``bots.capacity``, whose imports need Django to be there."""

import os

import django

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    django.setup()
    from bots.capacity import main

    main()
