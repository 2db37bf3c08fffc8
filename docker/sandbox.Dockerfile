# The image that participants' code runs in. Built by `./podium images` (ingestion/images.py), or by hand:
#   docker build -f docker/sandbox.Dockerfile -t podium-sandbox:latest --build-arg BASE_IMAGE=podium-base .
# Works with the classic builder and with BuildKit. Versions are those of requirements.in.
ARG BASE_IMAGE=python:3.11-slim

# The first stage may see the builder's own certificate authority (extra-ca.crt) and package index.
# Only the finished environment leaves it, so that neither stays in a layer or in the history of the image.
FROM ${BASE_IMAGE} AS packages
LABEL podium.stage=packages
ARG PIP_INDEX_URL
ARG PIP_TRUSTED_HOST
COPY requirements.in extra-ca.cr[t] /build/
RUN python3 -m venv /opt/podium \
 && grep -E '^(numpy|scipy|pandas|scikit-learn)==' /build/requirements.in > /build/sandbox.txt \
 && if [ -s /build/extra-ca.crt ]; then export PIP_CERT=/build/extra-ca.crt; fi \
 && /opt/podium/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary :all: -r /build/sandbox.txt \
 && /opt/podium/bin/python -m compileall -q -j 0 /opt/podium/lib \
 && /opt/podium/bin/pip list --format=freeze > /opt/podium/packages.txt \
 && find /opt/podium -type d \( -name tests -o -name test \) -path '*/site-packages/*' -prune -exec rm -rf {} + \
 && rm -rf /opt/podium/lib/python3*/site-packages/pip /opt/podium/lib/python3*/site-packages/pip-*.dist-info \
           /opt/podium/lib/python3*/site-packages/setuptools /opt/podium/lib/python3*/site-packages/setuptools-*.dist-info \
           /opt/podium/lib/python3*/site-packages/pkg_resources /opt/podium/bin/pip*

FROM ${BASE_IMAGE}
LABEL podium.image=sandbox
COPY --from=packages /opt/podium /opt/podium
RUN mkdir -p /app/input_data /app/submission /app/program /app/output
ENV PATH=/opt/podium/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 HOME=/tmp
USER 65534:65534
WORKDIR /app/submission
CMD ["python3"]
