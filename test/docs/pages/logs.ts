import { LOGS } from '../../../lib/index.ts'
import { code, NOTICE, table } from '../markdown.ts'

export function logsPage(): string {
  return `${NOTICE}

# Logs

Each component has its own log. All logs are off by default. These patterns turn them on:

| | |
|---|---|
| \`souk up --log 'souk:*'\` | every log of Souk |
| \`souk up --log 'souk:call,souk:resolve'\` | two logs |
| \`souk up --log 'souk:*,souk:*:trace'\` | with trace lines: cache hits, requests as they arrive |
| \`souk up --log 'souk:*,-souk:dht*,libp2p:tcp*'\` | without the DHT, with libp2p's TCP transport |
| \`SOUK_LOG\`, \`DEBUG\` | environment variables with the same patterns. \`--log\` overrides \`SOUK_LOG\`, which overrides \`DEBUG\`. |

\`*\` matches any text. \`-\` in front excludes a pattern. Trace lines need a pattern that contains \`:trace\`. Names of libp2p's logs begin
with \`libp2p:\`. [Trace a stuck call](../how-to/when-something-breaks.md#trace-a-stuck-call) has examples of lines.

${table(
  ['Log', 'Content'],
  Object.entries(LOGS).map(([name, what]) => [code(name), what])
)}

- Each line has a time, the log's name and a text, and goes to stderr. The texts may change between versions. Programs should read
  [events](events.md) and [metrics](metrics.md) instead.
- A call has the same request id in every log, at both nodes. It is the \`X-Request-Id\` of the response.
- An error is logged as its [code](errors.md), its text, and the codes of its causes.
- Souk's logs contain no keys, passphrases, tokens, URLs of RPC endpoints or databases, header values, queries or bodies. libp2p's
  logs contain peers and their addresses.
- In your own program, pass the option \`logger\` to \`createNode\` and to the stores. The default is \`@libp2p/logger\`, which reads \`DEBUG\`.
`
}
