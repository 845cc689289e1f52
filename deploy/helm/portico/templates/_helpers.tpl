{{- define "portico.name" -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- define "portico.selector" -}}
app.kubernetes.io/name: portico
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
{{- define "portico.metadata" -}}
name: {{ include "portico.name" . }}
labels:
  {{- include "portico.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "portico.hasAdmin" -}}
{{- if ne (toString .Values.settings.admin.enabled) "false" }}true{{ end }}
{{- end }}
{{- /* A kubelet has no client certificate: with http.tls.clientCaFile, it asks the admin listener. */}}
{{- define "portico.probed" -}}
{{- $http := .Values.settings.http }}
{{- $admin := .Values.settings.admin }}
{{- $listener := $http }}
{{- $name := "http" }}
{{- if and $http.tls (($http.tls | default dict).clientCaFile) }}
{{- $listener = $admin }}
{{- $name = "admin" }}
{{- if or (not (include "portico.hasAdmin" .)) (has $admin.host (list "127.0.0.1" "::1")) (($admin.tls | default dict).clientCaFile) }}
{{- fail "settings.http.tls.clientCaFile takes an admin listener that probes can reach: settings.admin.host: 0.0.0.0, without settings.admin.tls.clientCaFile" }}
{{- end }}
{{- end }}
{{- printf "port: %s" $name }}{{ if $listener.tls }}, scheme: HTTPS{{ end }}
{{- end }}
