# auto-sklearn 0.15.0, which needs Python 3.9 and the scikit-learn of its time. Built by
# `./podium images --name autosklearn` (ingestion/images/), or by hand:
#   docker build -f docker/sandbox-autosklearn.Dockerfile -t podium-sandbox-autosklearn:latest .
# By hand it lacks the label org.podium.packages, which is known only when everything is installed.
# Works with the classic builder and with BuildKit. Versions: docker/sandbox-autosklearn.in.
ARG BASE_IMAGE=python:3.9-slim

# The first stage may see the builder's own certificate authority (extra-ca.crt) and package index, and holds the
# tools that build auto-sklearn from source. Only the finished environment leaves it.
FROM ${BASE_IMAGE} AS packages
LABEL podium.stage=packages
ARG PIP_INDEX_URL
ARG PIP_TRUSTED_HOST
COPY docker/sandbox-autosklearn.txt extra-ca.cr[t] /build/
# What is built from source is pure Python, but its old setup scripts ask for numpy and Cython: those come first.
RUN python3 -m venv /opt/podium \
 && if [ -s /build/extra-ca.crt ]; then export PIP_CERT=/build/extra-ca.crt; fi \
 && pip() { /opt/podium/bin/python -m pip --no-cache-dir --disable-pip-version-check "$@"; } \
 && grep -iE '^(setuptools|numpy|cython)==' /build/sandbox-autosklearn.txt > /build/first.txt \
 && pip install --only-binary :all: -r /build/first.txt wheel \
 && pip install --no-compile --no-deps --no-build-isolation --only-binary :all: \
        --no-binary auto-sklearn,smac,pynisher,liac-arff -r /build/sandbox-autosklearn.txt \
 && pip uninstall -y wheel \
 && cd /opt/podium/lib/python3*/site-packages \
 && rm -rf pip pip-*.dist-info /opt/podium/bin/pip* \
 && find . -type d \( -name tests -o -name test \) -prune -exec rm -rf {} + \
 && /opt/podium/bin/python -m compileall -q -j 0 . \
 && /opt/podium/bin/python -c "from importlib.metadata import distributions as d; \
print('\n'.join(sorted({f'{one.metadata[\"Name\"]}=={one.version}' for one in d()})))" > /opt/podium/packages.txt

FROM ${BASE_IMAGE}
LABEL podium.image=sandbox
COPY --from=packages /opt/podium /opt/podium
RUN mkdir -p /app/input_data /app/submission /app/program /app/output
ENV PATH=/opt/podium/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 HOME=/tmp
USER 65534:65534
WORKDIR /app/submission
CMD ["python3"]
