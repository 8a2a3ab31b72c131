import { ERRORS, PROBLEM_TYPE_BASE } from '../../../lib/base/errors.ts'
import { code, NOTICE, table } from '../markdown.ts'

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, title, retryable }]) => [
    String(status),
    code(name),
    title,
    retryable ? 'yes' : 'no'
  ])
  return `${NOTICE}

# Errors

Souk reports its errors as [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) \`application/problem+json\`:
\`type\` (\`${PROBLEM_TYPE_BASE}<code>\`), \`title\`, \`status\`, \`detail\`, \`code\`, \`request_id\`, \`charged\`,
\`amount_charged\`, \`retryable\`, \`source\` (\`ingress\`, \`owner\` or \`upstream\`). Match on \`code\`. These errors are
not charged. If the outcome of a sent call is unknown, \`charged\` and \`amount_charged\` are null, and the receipts show it later.
\`not_accepted\`, if present, is true: the call was refused before anything happened, so it can be sent again.
"Retry" means that the same request may succeed later. \`Retry-After\`, if present, says when.

A 4xx or 5xx response of an API is forwarded unchanged, with the header \`Souk-Error-Source: upstream\`, and is not charged.
Errors in a GraphQL request are GraphQL responses. Those of the provider's node, which then does not call the API, have
\`Souk-Error-Source: owner\`. \`soap_fault\` has the fault in its member \`fault\`, and status 400 if the
service blames the caller.

${table(['Status', 'Code', 'Title', 'Retry'], rows)}
`
}
