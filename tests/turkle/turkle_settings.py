"""Settings of a throw-away Turkle (the package has only the Django app) for the test that really runs it."""

import os

BASE = os.environ["RUNOFF_TURKLE_HOME"]
SECRET_KEY = "only-for-a-test-on-this-machine"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "turkle_urls"
STATIC_URL = "/static/"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(BASE, "turkle.sqlite3")}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ, TIME_ZONE = True, "UTC"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast, and nothing is kept
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "index", "index"
X_FRAME_OPTIONS = "SAMEORIGIN"
INSTALLED_APPS = [
    *(f"django.contrib.{app}" for app in ("auth", "contenttypes", "sessions", "messages", "staticfiles")),
    "turkle",
    "django.contrib.admin",
    "rest_framework",
    "rest_framework.authtoken",
    "turkle.api",
    "guardian",
    "djaa_list_filter2",
]
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend", "guardian.backends.ObjectPermissionBackend"]
_CONTEXT = (
    "template.context_processors.request",
    "contrib.auth.context_processors.auth",
    "contrib.messages.context_processors.messages",
    "template.context_processors.static",
)
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": [*(f"django.{name}" for name in _CONTEXT), "turkle.utils.turkle_vars"]},
    }
]
REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 100,
}
TURKLE_SITE_NAME = "Turkle"
TURKLE_TEMPLATE_LIMIT = 64
TURKLE_EMAIL_ENABLED = False
TURKLE_AUTO_ACCEPT_DEFAULT = True
META_TAGS: list[str] = []
