import type { CallTiming } from '../../../lib/interface/index.ts'
import { METRICS } from '../../../node/events/metrics.ts'
import { code, NOTICE, table } from '../markdown.ts'

/** Parts of `Server-Timing`: those measured by owners and consumers, and the rest, which is the ingress. */
const TIMING: Readonly<Record<keyof CallTiming | 'ingress', string>> = {
  ingress: 'The ingress: it checks key and limits, reads the request and writes the response.',
  lookup: 'The lookup of the API. 0 if it is cached.',
  pay: 'The payment: a signature for some calls, and a deposit if a channel is opened.',
  net: 'The network between consumer and owner.',
  owner: 'The owner’s node, without the API.',
  upstream: 'The API, until its response began.'
}

export function metricsPage(): string {
  const rows = Object.entries<{ type: string; help: string; labels?: Readonly<Record<string, string>> }>(METRICS).map(
    ([name, { type, help, labels = {} }]) => [
      code(name),
      type,
      help,
      Object.entries(labels)
        .map(([label, values]) => `${code(label)} (${values})`)
        .join(', ') || '–'
    ]
  )
  return `${NOTICE}

# Metrics

A node measures its own calls. It sends no telemetry.

## For a monitoring system

\`GET /admin/v1/metrics\` of the [admin API](admin-api.md), in Prometheus' text format. Counters start at 0 with the node:

${table(['Metric', 'Type', 'Meaning', 'Labels'], rows)}

The admin API is reachable from the node's own machine only, so run the collector there:

\`\`\`yaml
scrape_configs:
  - job_name: souk
    metrics_path: /admin/v1/metrics
    authorization:
      credentials_file: /var/lib/souk/default/admin.token
    static_configs:
      - targets: ["127.0.0.1:3000"]
\`\`\`

Health checks of the ingress need no token: \`/livez\` (the process responds) and \`/readyz\` (the node accepts calls).

## For people

- The console's overview, and \`GET /admin/v1/series\`: calls, errors, charges, p50 and p95, per minute for two hours and per
  15 minutes for a week. A restart deletes them.
- \`souk tail\` and \`GET /admin/v1/events\`: each call and event as it happens; see [events](events.md).
- \`quality\` of a listing: an API's results in this node's own calls; see
  [how to find an API](../how-to/find-an-api.md#what-the-numbers-mean).

## One call

Each response has a \`Server-Timing\` header, in milliseconds:

${table(
  ['Part', 'Time spent in'],
  Object.entries(TIMING).map(([part, what]) => [code(part), what])
)}
`
}
