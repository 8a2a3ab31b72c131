import { LOGS } from '../../../lib/index.ts'
import { code, NOTICE, table } from '../markdown.ts'

export function logsPage(): string {
  return `${NOTICE}

# Logs

Each component writes to a log of its own. All of them are off until a name turns them on:

| | |
|---|---|
| \`souk up --log 'souk:*'\` | every log of Souk |
| \`souk up --log 'souk:call,souk:resolve'\` | two of them |
| \`souk up --log 'souk:*,souk:*:trace'\` | with trace lines: cache hits, requests as they arrive |
| \`souk up --log 'souk:*,-souk:dht*,libp2p:tcp*'\` | without the DHT, with libp2p's TCP transport |
| \`SOUK_LOG\`, \`DEBUG\` | the same as an environment variable; \`--log\` wins over \`SOUK_LOG\`, and that over \`DEBUG\` |

\`*\` stands for any text, and \`-\` in front excludes. Trace lines need a pattern with \`:trace\` in it. The names of libp2p's own logs begin with
\`libp2p:\`. [Trace a stuck call](../how-to/when-something-breaks.md#trace-a-stuck-call) shows what the lines look like.

${table(
  ['Log', 'What it tells'],
  Object.entries(LOGS).map(([name, what]) => [code(name), what])
)}

- A line goes to stderr, between the node's other messages: time, name, text. Log lines are for people: their texts change between
  versions. Programs read [events](events.md) and [metrics](metrics.md).
- A call has the same request id in every log, at both nodes. It is the \`X-Request-Id\` of the response.
- An error is its [code](errors.md), its text, and the codes of its causes.
- No line of Souk holds a key, a passphrase, a token, the URL of an RPC endpoint or a database, a header's value, a query or a body. libp2p's
  logs name peers and their addresses.
- In a program of your own, the option \`logger\` of \`createNode\` and of the stores takes the logs; the default is that of \`@libp2p/logger\`, which
  \`DEBUG\` turns on.
`
}
