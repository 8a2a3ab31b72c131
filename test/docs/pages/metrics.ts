import type { CallTiming } from '../../../lib/interface/index.ts'
import { METRICS } from '../../../node/events/metrics.ts'
import { code, NOTICE, table } from '../markdown.ts'

/** Parts of `Server-Timing`: those measured by owners and consumers, and the rest, which is the ingress. */
const TIMING: Readonly<Record<keyof CallTiming | 'ingress', string>> = {
  ingress: 'At the ingress itself: key, limits, reading and writing.',
  lookup: 'Finding the API. 0 where it is known.',
  pay: 'Promising the price: a signature now and then, and a deposit where a channel is opened.',
  net: 'On the way to the owner and back.',
  owner: 'At the owner’s node, without the API.',
  upstream: 'At the API, until its response began.'
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

A node measures its own calls, and tells nobody by itself: there is no telemetry.

## For a monitoring system

\`GET /admin/v1/metrics\` of the [admin API](admin-api.md), in Prometheus' text format, counted since the node was started:

${table(['Metric', 'Type', 'What it says', 'Labels'], rows)}

The admin API answers on the node's own machine only, so the collector runs there too:

\`\`\`yaml
scrape_configs:
  - job_name: souk
    metrics_path: /admin/v1/metrics
    authorization:
      credentials_file: /var/lib/souk/default/admin.token
    static_configs:
      - targets: ["127.0.0.1:3000"]
\`\`\`

Whether a node works at all is said without a token by its ingress: \`/livez\` (the process answers) and \`/readyz\` (it takes calls).

## For people

- The console's overview, and \`GET /admin/v1/series\`: calls, errors, what they were charged, p50 and p95, by the minute for two hours and by
  the quarter of an hour for a week. In memory: a restart begins anew.
- \`souk tail\` and \`GET /admin/v1/events\`: each call and event as it happens; see [events](events.md).
- \`quality\` of a listing: how an API did on this node's own calls; see
  [how to find an API](../how-to/find-an-api.md#what-the-numbers-mean).

## One call

Each response has a \`Server-Timing\` header, in milliseconds:

${table(
  ['Part', 'Where the time went'],
  Object.entries(TIMING).map(([part, what]) => [code(part), what])
)}
`
}
