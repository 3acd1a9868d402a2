# Runoff in a container: `docker build -t runoff .` is the owner's app, `--target voting` the voting page.
# How to run both: docs/howto/container.md.
FROM python:3.11-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 RUNOFF_WORKSPACE=/workspace
RUN useradd --create-home --uid 10001 runoff && install --directory --owner=runoff /workspace
WORKDIR /runoff
COPY requirements.lock ./
RUN pip install -r requirements.lock
COPY core ./core
COPY voting ./voting
USER runoff
VOLUME /workspace

FROM base AS voting
EXPOSE 8600
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8600/health', timeout=4)"]
CMD ["python", "-m", "voting", "--host", "0.0.0.0", "--port", "8600"]

FROM base AS app
COPY .streamlit ./.streamlit
COPY data ./data
COPY pages ./pages
COPY ui ./ui
COPY app.py ./
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--server.headless", "true"]
