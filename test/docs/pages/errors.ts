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

Every error of Souk's own is [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) \`application/problem+json\`:
\`type\` (\`${PROBLEM_TYPE_BASE}<code>\`), \`title\`, \`status\`, \`detail\`, \`code\`, \`request_id\`, \`charged\`,
\`amount_charged\`, \`retryable\`, \`source\` (\`ingress\`, \`owner\` or \`upstream\`). Match on \`code\`. Nothing in this table is
charged; where a call was sent, and what became of it was not heard, \`charged\` and \`amount_charged\` are null, and the receipts
tell later. "Retry" means that the same request may succeed later as it is; \`Retry-After\` says when, where that is known.

An upstream's own 4xx and 5xx are passed on unchanged, with the header \`Souk-Error-Source: upstream\`, and are not charged
either. Errors in a GraphQL request itself are GraphQL responses. \`soap_fault\` carries the fault as the member \`fault\`, and
has status 400 where the service says that the caller is at fault.

${table(['Status', 'Code', 'Title', 'Retry'], rows)}
`
}
