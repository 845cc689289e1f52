import type { InspectColor } from 'node:util';
import type { FirstItem, ProbeReport, ReadFailure, ResourceReport } from './probe-report.ts';

/** Colours a text, if the output is a terminal with colours. */
export type Paint = (style: InspectColor, text: string) => string;

/** Formats a report for a person: a paragraph for each resource, and a line with the result. */
export function printReport(report: ProbeReport, paint: Paint): string {
  const verdict = paint(report.ok ? 'green' : 'red', verdictOf(report));
  return `${[...report.resources.map((resource) => printResource(resource, paint)), verdict].join('\n\n')}\n`;
}

/** Returns the last line. Resources are "read whole" only without any doubt. */
function verdictOf({ file, ok, strict, resources }: ProbeReport): string {
  const read = resources.filter((resource) => resource.ok);
  const warnings = read.flatMap((resource) => resource.warnings).length;
  const untried = read.flatMap((resource) => resource.notTried).length;
  const doubts = [
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
    ...(untried > 0 ? [`${counted(untried, 'experiment')} not tried`] : []),
  ].join(' and ');
  const word = ok ? 'OK' : strict ? 'FAILED (--strict)' : 'FAILED';
  const how = doubts === '' ? ' whole' : `, with ${doubts}`;
  return `${file}: ${word}: ${read.length} of ${resources.length} resources could be read${how}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function printResource(report: ResourceReport, paint: Paint): string {
  const { resource, uri, upstream, warnings, suggestions, first } = report;
  return [
    `${paint('bold', resource)}  ${uri}, upstream ${upstream}`,
    ...printExchange(report, paint),
    ...printOutcome(report, paint),
    ...(first === undefined ? [] : printFirst(first, report.ok, paint)),
    ...warnings.map(({ text }) => `  ${paint('yellow', 'warning:')} ${text}`),
    ...report.notTried.map(
      ({ experiment, why }) => `  ${paint('yellow', 'could not be tried:')} ${experiment}: ${why}`,
    ),
    ...suggestions.map(({ setting, value, why }) => `  ${paint('cyan', 'try')} ${setting}: ${value}   # ${why}`),
  ].join('\n');
}

function printExchange({ request, response, notRead }: ResourceReport, paint: Paint): string[] {
  if (notRead !== undefined) return [`  ${paint('red', `not read: ${notRead}`)}`];
  if (request === undefined) return ['  nothing was sent'];
  const headers = Object.entries(request.headers).map(([name, value]) => paint('dim', `      ${name}: ${value}`));
  const { status, contentType, ms } = response ?? {};
  const type = contentType === '' ? '' : `, ${contentType}`;
  const answer = response === undefined ? '  no response' : `  ${status} after ${ms} ms${type}`;
  const body = request.body === undefined ? [] : [paint('dim', `      ${request.body}`)];
  return [`  ${request.method} ${request.url}`, ...headers, ...body, answer];
}

function printOutcome({ error, ...report }: ResourceReport, paint: Paint): string[] {
  const { upstream, pages, signs, ms } = report;
  const says = signs.length === 0 ? [] : [`  its first page says: ${signs.join('; ')}`];
  if (report.notRead !== undefined) return [];
  if (error === undefined) {
    const { items, excluded, dropped, emptyFields, warnings, extraRequests } = report;
    const parts = [
      `${paint('green', `${items} ${items === 1 ? 'item' : 'items'} of ${pages} ${pages === 1 ? 'page' : 'pages'}`)} after ${ms} ms`,
      ...(excluded > 0 ? [`${excluded} left out by where`] : []),
      ...(dropped > 0 ? [`${dropped} dropped that could not be mapped`] : []),
    ];
    const empty = emptyFields.filter(
      (field) => !warnings.some((warning) => 'field' in warning && warning.field === field),
    );
    return [
      `  ${parts.join(', ')}`,
      ...says,
      ...(empty.length > 0 ? [`  empty in all of them: ${empty.join(', ')}`] : []),
      ...(extraRequests > 0 ? [`  ${counted(extraRequests, 'request')} more for experiments`] : []),
    ];
  }
  const { code, reason, said, headers = {}, credentialHeaders } = error;
  const keys = (report.lookAt ?? [])
    .filter(({ setting }) => !reason.includes(setting))
    .map(({ setting, value }) => (value === undefined ? setting : `${setting} (${value})`));
  return [
    `  ${paint('red', `${code}: ${reason}`)}`,
    ...(keys.length === 0 ? [] : [`  look at ${keys.join(', ')}`]),
    ...Object.entries(headers).map(([name, value]) => `      ${name}: ${value}`),
    ...('location' in headers ? [`  ${WHERE_TO}`] : []),
    ...(said === undefined ? [] : [`  the platform said: ${said}`]),
    ...(credentialHeaders === undefined ? [] : [`  ${whereCredentialWas(error, upstream)}`]),
    ...says,
  ];
}

const WHERE_TO = 'no redirect is followed: if the list is there, name that place in baseUrl and path';

function whereCredentialWas({ code, credentialHeaders: headers = [] }: ReadFailure, upstream: string): string {
  const setting = `upstreams.${upstream}.credential`;
  if (headers.length === 0) return `no header held the token: ${setting} is of kind none`;
  if (code === 'upstream_credential_rejected') {
    return `Portico's own secret was in the header ${headers.join(', ')}; ${setting} says which, and how it is sent`;
  }
  return `the token was in the header ${headers.join(', ')}; ${setting} can name another`;
}

const MAX_LINES = 40;

function printFirst({ raw, mapped, from, why }: FirstItem, isServed: boolean, paint: Paint): string[] {
  const lines = (JSON.stringify(raw, null, 2) ?? '').split('\n');
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), '…'] : lines;
  const served = Object.entries(mapped ?? {}).map(([field, text]) => [`${field} (${from[field]})`, text] as const);
  const widest = Math.max(0, ...served.map(([field]) => field.length));
  const fields = served.map(
    ([field, text]) => `      ${field.padEnd(widest)}  ${text === '' ? paint('dim', '(empty)') : text}`,
  );
  return [
    '  first item, as it came',
    ...shown.map((line) => paint('dim', `      ${line}`)),
    ...(why === undefined
      ? [`  and as it ${isServed ? 'is served' : 'would be served, if the list could be read'}`, ...fields]
      : [`  not served: ${why}`]),
  ];
}
