/** One fault: its test in `npm run faults`, and its description on the page. */
export interface Row {
  readonly name: string
  readonly fault: string
  readonly happens: string
  /** The required property, as shown on the page. */
  readonly limit: string
  readonly run: Measure | Program | Specs
  /** The row fails if a figure is above its maximum, or missing. */
  readonly atMost?: Readonly<Record<string, number>>
  readonly minutesMax: number
}

/** A file beside this one whose `run` returns figures. */
export interface Measure {
  readonly measure: string
}

/** A program, its arguments for full and `--short` runs, and a pattern whose named groups are its figures. */
export interface Program {
  readonly program: string
  readonly args: readonly string[]
  readonly short: readonly string[]
  readonly figures: RegExp
}

/** Spec files (globs), and the variables that make them longer. */
export interface Specs {
  readonly specs: readonly string[]
  readonly longer?: Readonly<Record<string, string>>
}

const NOTHING_TWICE = 'nothing lost, nothing charged twice'
/** Number of cases per parser. */
const FUZZ = { FUZZ_RUNS: '100000' }

export const ROWS: readonly Row[] = [
  {
    name: 'killed-while-paid',
    fault: '`kill -9` of provider and consumer at random moments, with 200 callers that pay',
    happens: 'The process comes back with its books. Both books and the chain agree.',
    limit: NOTHING_TWICE,
    run: {
      program: 'test/e2e/killed-while-paid/main.ts',
      args: ['--rounds', '50'],
      short: ['--rounds', '2'],
      figures:
        /(?<calls>\d+) calls, (?<answered>\d+) answered, (?<charged>\d+) charged, \d+ streams cut off; (?<provider_kills>\d+) \+ (?<consumer_kills>\d+) kills/
    },
    minutesMax: 30
  },
  {
    name: 'one-fault',
    fault:
      'In scripted runs, for each N: `kill -9` before or after the Nth commit, an Nth commit that fails, a link that is cut before or after the Nth message',
    happens: 'The consumer repeats the call under its request id. It gets the stored response, or `call_interrupted`.',
    limit: NOTHING_TWICE,
    run: { measure: 'one-fault.ts' },
    minutesMax: 60
  },
  {
    name: 'simulator',
    fault:
      'Simulated runs: messages lost, doubled, late and out of order; links cut; processes killed; blocks taken back; a chain endpoint that lies or is away',
    happens: 'Everything acknowledged is there. Both books agree. The chain paid what was signed.',
    limit: NOTHING_TWICE,
    run: {
      program: 'test/sim/main.ts',
      args: ['--seeds', '20000'],
      short: ['--seeds', '50'],
      figures: /(?<runs>\d+) seeds, (?<wrong>\d+) of them wrong.*"captured":(?<paid_calls>\d+).*"deaths":(?<kills>\d+)/
    },
    atMost: { wrong: 0 },
    minutesMax: 60
  },
  {
    name: 'killed-plans',
    fault: '`kill -9` of a provider that sells plans and counts calls',
    happens: 'The quota counts each answered call once.',
    limit: NOTHING_TWICE,
    run: { specs: ['test/e2e/plans-killed.long.spec.ts', 'test/e2e/owner-killed.long.spec.ts'] },
    minutesMax: 10
  },
  {
    name: 'disk',
    fault: 'The disk fails a write or a sync (EIO, ENOSPC), answers late, or the process is killed between two writes',
    happens:
      'A response is sent when its record is on the disk. After a failed commit the node takes no more work and ends.',
    limit: 'no acknowledged record is lost',
    run: {
      specs: ['test/lib/store/sqlite/*.spec.ts', 'test/lib/store/commit-queue.spec.ts'],
      longer: { CRASH_ROUNDS: '200' }
    },
    minutesMax: 20
  },
  {
    name: 'database',
    fault: 'PostgreSQL is restarted, is away, or its connections are ended under load',
    happens:
      'What needs the database gets 503 `store_unavailable` with `Retry-After`. A commit without an acknowledgement is looked up before anything is told.',
    limit: `served again within 5 s of its return; ${NOTHING_TWICE}`,
    run: { specs: ['test/lib/store/postgres/*.spec.ts', 'test/e2e/database-away.long.spec.ts'] },
    minutesMax: 15
  },
  {
    name: 'repeats',
    fault: '50 copies of one request id at once; retries over two ingresses whose processes are killed',
    happens: 'One copy reaches the upstream. The others wait for its response, or get `idempotency_in_flight`.',
    limit: 'one upstream call, one charge',
    run: {
      specs: [
        'test/lib/owner/repeats.spec.ts',
        'test/lib/owner/idempotent-calls.spec.ts',
        'test/e2e/retries.long.spec.ts'
      ]
    },
    minutesMax: 10
  },
  {
    name: 'reorgs',
    fault: 'The chain takes back 1 to 10 blocks, under transactions and under claims',
    happens: 'The same transaction is sent again. Books follow finalized blocks only.',
    limit: 'each transaction takes effect once',
    run: { specs: ['test/lib/pay/chain/*.spec.ts', 'test/lib/pay/settle/*.spec.ts'] },
    minutesMax: 20
  },
  {
    name: 'stop',
    fault: 'SIGTERM under load',
    happens: 'Running calls are answered. New calls get 503. The process exits with code 0.',
    limit: 'no accepted call is lost',
    run: { specs: ['test/e2e/under-stress.spec.ts'] },
    minutesMax: 5
  },
  {
    name: 'old-backup',
    fault:
      'A provider is restored from an old backup, while consumers hold newer vouchers, request ids and idempotency keys',
    happens:
      'The node takes what was claimed on the chain as charged. A request id of an earlier process that the books do not know gets `call_interrupted`. So does [an idempotency key that was first used after the backup](../how-to/when-something-breaks.md#backups).',
    limit: 'no request id and no idempotency key runs twice; the provider loses what it had not claimed',
    run: {
      specs: ['test/lib/pay/lost-books.spec.ts', 'test/e2e/backup.spec.ts', 'test/e2e/old-backup.long.spec.ts']
    },
    minutesMax: 5
  },
  {
    name: 'parsers',
    fault: 'Random and mutated frames, payments, vouchers, manifests, records, keys, JSON, addresses and events',
    happens: 'Each is read, or refused with the error code of its surface.',
    limit: '100,000 cases of each; no other error, no hang',
    run: {
      specs: [
        'test/lib/call/frame.spec.ts',
        'test/lib/pay/proto.spec.ts',
        'test/lib/pay/signing/voucher.spec.ts',
        'test/lib/resolve/hostile-bytes.spec.ts',
        'test/lib/base/json-text.spec.ts',
        'test/node/keys/keys.spec.ts',
        'test/protocols/upstream/address.spec.ts',
        'test/protocols/rest/single-events.spec.ts',
        'test/protocols/rest/explicit.spec.ts'
      ],
      longer: FUZZ
    },
    minutesMax: 60
  },
  {
    name: 'descriptions',
    fault: 'Hostile and mutated OpenAPI, GraphQL and WSDL documents, and patterns that run away',
    happens: 'A worker reads the document within limits of time and memory. The error says which limit was met.',
    limit: '100,000 cases of each; calls of other APIs are answered meanwhile',
    run: {
      specs: [
        'test/node/registrations/hostile-descriptions.long.spec.ts',
        'test/protocols/soap/wsdl/hostile-wsdls.long.spec.ts',
        'test/protocols/description-worker/*.spec.ts',
        'test/protocols/pattern/*.spec.ts',
        'test/protocols/rest/call-check.spec.ts',
        'test/protocols/rest/openapi.spec.ts',
        'test/protocols/soap/round-trip.spec.ts',
        'test/protocols/soap/wsdl/wsdl-*.spec.ts'
      ],
      longer: FUZZ
    },
    minutesMax: 180
  },
  {
    name: 'hang',
    fault: 'The event loop does not turn any more',
    happens: 'A watchdog thread writes the stack and ends the process, so that its supervisor restarts it.',
    limit: 'the limit of `--watchdog`',
    run: { specs: ['test/node/watchdog/watchdog.long.spec.ts'] },
    minutesMax: 5
  },
  {
    name: 'held-bodies',
    fault: 'Hundreds of requests whose last byte never comes, with one key, with many, or with an unverified payment',
    happens: 'Past the budget for held bodies a request gets 503 with `Retry-After`. Other consumers are answered.',
    limit: '[`HELD_BYTES_MAX`](../reference/limits.md) in one process',
    run: { measure: 'held-bodies.ts' },
    atMost: {
      one_key_call_of_others_ms: 2_000,
      twenty_keys_call_of_others_ms: 2_000,
      payments_call_of_others_ms: 2_000,
      twenty_keys_rss_peak_mb: 800,
      payments_rss_peak_mb: 800
    },
    minutesMax: 10
  },
  {
    name: 'overload',
    fault: 'Ten times as many calls as an ingress can make, on 1,500 connections',
    happens: 'Calls over capacity get 503 with `Retry-After` at once. Admitted calls have a bounded wait.',
    limit: 'p99 of admitted calls at most 2 s, the median refusal at most 50 ms',
    run: { measure: 'overload.ts' },
    atMost: { p99_admitted_ms: 2_000, median_refusal_ms: 50 },
    minutesMax: 5
  },
  {
    name: 'connections',
    fault: '600 idle libp2p identities of one host',
    happens: 'The host keeps its share of the places. A customer keeps its connection, and a newcomer can call.',
    limit: '[`CONNECTIONS_PER_HOST_MAX`](../reference/limits.md) of one host',
    run: { measure: 'connections.ts' },
    atMost: { its_slowest_call_ms: 5_000, newcomer_join_and_first_call_ms: 15_000 },
    minutesMax: 10
  },
  {
    name: 'hostile-peers',
    fault: 'Peers of the directory that answer wrongly, with old records, or not at all',
    happens: 'A node believes signed records only, and no older one than it knows.',
    limit: 'no forged or older listing is used',
    run: { specs: ['test/lib/resolve/directory/kad-*.spec.ts', 'test/lib/resolve/directory/record.spec.ts'] },
    minutesMax: 10
  },
  {
    name: 'hostile-page',
    fault: 'A hostile page in Chromium: DNS rebinding and cross-site requests to the admin API and the console',
    happens: 'The node refuses each request by its `Host`, `Origin` or missing session. The page reads nothing.',
    limit: 'no change, no response that the page can read',
    run: { specs: ['test/node/console/hostile-page.spec.ts', 'test/node/admin/sessions/guard.spec.ts'] },
    minutesMax: 5
  },
  {
    name: 'secrets',
    fault: 'A node with known secrets runs through successful and failed commands and calls',
    happens: 'Each secret stays in its file of mode 0600, or encrypted in the store.',
    limit: 'no secret in output, logs, problem documents, headers or URLs',
    run: { specs: ['test/e2e/secrets.spec.ts'] },
    minutesMax: 5
  }
]
