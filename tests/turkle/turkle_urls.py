"""The addresses of the throw-away Turkle."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("django.contrib.auth.urls")),
    path("", include("turkle.urls")),
    path("api/", include("turkle.api.urls")),
]
