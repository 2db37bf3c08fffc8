# The image that programs of imported competitions run in where nothing better is chosen: Python 3 and the usual
# packages, in place of the public images of Codabench and CodaLab and of about their age. Built by `./podium images`
# (ingestion/images/), or by hand:
#   docker build -f docker/bundles.Dockerfile -t podium-bundles:latest --build-arg BASE_IMAGE=podium-base .
# By hand it lacks the label org.podium.packages, which is known only when everything is installed.
# Works with the classic builder and with BuildKit. Versions: docker/bundles.in.
ARG BASE_IMAGE=python:3.11-slim

# The first stage may see the builder's own certificate authority (extra-ca.crt) and package index.
# Only the finished environment leaves it, so that neither stays in a layer or in the history of the image.
FROM ${BASE_IMAGE} AS packages
LABEL podium.stage=packages
ARG PIP_INDEX_URL
ARG PIP_TRUSTED_HOST
COPY docker/bundles.txt extra-ca.cr[t] /build/
RUN python3 -m venv /opt/podium \
 && if [ -s /build/extra-ca.crt ]; then export PIP_CERT=/build/extra-ca.crt; fi \
 && /opt/podium/bin/pip install --no-cache-dir --no-compile --disable-pip-version-check --no-deps \
        --only-binary :all: -r /build/bundles.txt \
 && cd /opt/podium/lib/python3*/site-packages \
 && rm -rf pip pip-*.dist-info setuptools setuptools-*.dist-info pkg_resources _distutils_hack \
           distutils-precedence.pth /opt/podium/bin/pip* \
 && find . -type d \( -name tests -o -name test \) -prune -exec rm -rf {} + \
 && /opt/podium/bin/python -m compileall -q -j 0 . \
 && /opt/podium/bin/python -c "from importlib.metadata import distributions as d; \
print('\n'.join(sorted({f'{one.metadata[\"Name\"]}=={one.version}' for one in d()})))" > /opt/podium/packages.txt

FROM ${BASE_IMAGE}
LABEL podium.image=sandbox
COPY --from=packages /opt/podium /opt/podium
RUN mkdir -p /app/program
# Bundles call `python` as well as `python3`: the environment has both.
ENV PATH=/opt/podium/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 HOME=/tmp MPLBACKEND=Agg
USER 65534:65534
WORKDIR /app/program
CMD ["python3"]
