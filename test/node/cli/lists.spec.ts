import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createProgram, main } from '../../../node/cli/program.ts'
import { lockProfile, type ProfileLock } from '../../../node/profile/profile-lock.ts'
import { scriptedUpstream, type ScriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { type TestTerminal, testTerminal } from '../../helpers/test-terminal.ts'

const LINE_CHARS = 80
const PEER = '12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo'
const NAME = 'the-weather-of-every-town-and-village-of-the-whole-wide-world-1'
const API = `${NAME}@${PEER}`
const AMOUNT = '123456.123456'
const AT = Date.UTC(2026, 10, 22, 12, 34)
/** Wide and joined characters, and controls that would clear the screen or turn the text around. */
const TEXT =
  '気象データ 👩‍🔬 e\u0301te\u0301 \u001b[2J\u001b]0;x\u0007 \u202eevil\nsecond line, much longer than any terminal is wide'
const UUID = '01932f5e-7c1a-7abc-8def-0123456789ab'
const CHANNEL = `0x${'c1'.repeat(31)}7f`
const listing = {
  id: API,
  name: NAME,
  protocol: 'GraphQL',
  price: AMOUNT,
  state: 'deprecated',
  description: TEXT,
  matching_operations: [{ name: 'o'.repeat(100), summary: TEXT }]
}
const plan = {
  id: 'p'.repeat(40),
  name: TEXT,
  fee: AMOUNT,
  period: 'month',
  trial_days: 30,
  included: 1_000_000,
  overage: [
    { up_to: 100_000, price: AMOUNT },
    { up_to: null, price: AMOUNT }
  ],
  rate_limit: { calls: 100_000, per_ms: 60_000, burst: 100_000 },
  in_flight_max: 1_000,
  closed: true
}

/** Each list with the longest texts that it may have: the command, and the admin API's response. */
const LISTS: ReadonlyArray<readonly [command: string, route: string, response: object]> = [
  [
    'api list',
    'GET /apis',
    {
      apis: [
        {
          ...listing,
          own: false,
          problem: null,
          calls: { captured: 100_000_000 },
          metered: AMOUNT,
          endpoint: `http://${'x'.repeat(200)}/`
        }
      ]
    }
  ],
  [`plan list ${NAME}`, `GET /apis/${NAME}/plans`, { plans: [plan], pay_per_call: true }],
  ['subscribers', 'GET /subscribers', { subscribers: [subscription({ plan: plan.id, peer: PEER })], next: null }],
  ['provider delegations', 'GET /delegations', { delegations: [{ peer: PEER, provider: PEER, expires_at: AT }] }],
  [
    'search weather',
    'GET /search',
    { listings: [{ ...listing, quality: { calls: 123_456, success_rate: 0.987, p50_ms: 12_345 } }], next: null }
  ],
  [
    'market search weather',
    'GET /search',
    { listings: [{ ...listing, quality: { calls: 123_456, success_rate: 0.987, p50_ms: 12_345 } }], next: null }
  ],
  ['subscriptions list', 'GET /subscriptions', { subscriptions: [subscription({ plan, quota: { used: 999_999 } })] }],
  [
    'receipts',
    'GET /receipts',
    {
      receipts: [
        {
          role: 'owner',
          request_id: UUID,
          api: API,
          charged: AMOUNT,
          rule: 'success',
          status: 200,
          at: AT,
          signature: 'unknown'
        }
      ],
      next: null
    }
  ],
  [
    'channel list',
    'GET /channels',
    {
      channels: [
        {
          role: 'payer',
          channel: CHANNEL,
          peer: PEER,
          state: 'withdrawing',
          disputed: false,
          deposit: AMOUNT,
          spent: AMOUNT,
          disputed_amount: AMOUNT,
          claimed: AMOUNT,
          returned: AMOUNT,
          withdrawable_at: AT
        }
      ]
    }
  ],
  [
    'disputes list',
    'GET /disputes',
    {
      disputes: [
        {
          role: 'payer',
          request_id: UUID,
          api: API,
          peer: PEER,
          channel: CHANNEL,
          amount: AMOUNT,
          fault: 'signature',
          state: 'open',
          at: AT
        }
      ]
    }
  ],
  [
    'key list',
    'GET /keys',
    {
      keys: [
        {
          id: `key_${'k'.repeat(20)}`,
          hint: 'souk_test_…wxyz',
          state: 'disabled',
          max_price: AMOUNT,
          daily_cap: AMOUNT,
          label: TEXT,
          apis: [API, API],
          created_at: AT,
          retires_at: null,
          expires_at: AT,
          last_used_at: AT
        }
      ],
      next: null,
      demo: null
    }
  ],
  [
    'account list',
    'GET /accounts',
    {
      accounts: [{ id: `acct_${'a'.repeat(24)}`, balance: AMOUNT, spent: AMOUNT, label: TEXT, created_at: AT }],
      next: null,
      owed: AMOUNT
    }
  ],
  [
    'webhook list',
    'GET /webhooks',
    {
      webhooks: [
        {
          id: `wh_${'f'.repeat(20)}`,
          url: `https://${'h'.repeat(300)}/`,
          events: ['listing.*', 'key.revoked', 'cap.reached'],
          state: 'disabled',
          pending: 10_000,
          delivered_at: AT,
          note: TEXT
        }
      ]
    }
  ],
  [
    'peers',
    'GET /peers',
    { peers: [{ peer: PEER, addresses: Array(8).fill(`/ip6/2001:db8::1/tcp/4402/p2p/${PEER}`) }] }
  ],
  ['console browsers', 'GET /sessions', { sessions: [{ id: 's'.repeat(12), since: AT, expires_at: AT }] }]
]

function subscription(rest: object): object {
  return { id: UUID, api: API, state: 'cancelling', created_at: AT, period_end: AT, ...rest }
}

function emptied(_: string, value: unknown): unknown {
  return Array.isArray(value) ? [] : value
}

function withoutNext(name: string, value: unknown): unknown {
  return name === 'next' ? undefined : value
}

function leavesOf(command: Command, path: readonly string[] = []): string[] {
  const below = command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]))
  return /^(?:list |find APIs)/.test(command.description()) ? [path.join(' '), ...below] : below
}

describe('the lists of the command line', () => {
  let home: string
  let admin: ScriptedUpstream
  let lock: ProfileLock
  let isEmpty = false
  let isOlder = false

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-lists-'))
    admin = await scriptedUpstream((response, { method, target }) => {
      const asked = `${method} ${target.replace('/admin/v1', '').split('?')[0]}`
      const [, , body] = LISTS.find(([, route]) => route === asked) ?? []
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body, isEmpty ? emptied : isOlder ? withoutNext : undefined))
    })
    const profile = join(home, 'default')
    await mkdir(profile, { mode: 0o700 })
    await writeFile(join(profile, 'running.json'), JSON.stringify({ admin: admin.url }), { mode: 0o600 })
    await writeFile(join(profile, 'admin.token'), 'token', { mode: 0o600 })
    lock = lockProfile(join(profile, 'lock'), 'default')
  })
  beforeEach(() => {
    isEmpty = false
    isOlder = false
  })
  after(async () => {
    lock.release()
    await admin.close()
    await rm(home, { recursive: true })
  })

  async function runOf(command: string): Promise<TestTerminal> {
    const terminal = testTerminal({ env: { SOUK_HOME: home } })
    assert.equal(await main(command.split(' '), terminal), 0, terminal.stderr())
    return terminal
  }
  const run = async (command: string) => (await runOf(command)).stdout()

  it('are all tested here', async () => {
    const tested = new Set(LISTS.map(([command]) => command))
    for (const command of leavesOf((await createProgram(testTerminal())).program))
      assert.ok(
        [...tested].some((each) => each.startsWith(command)),
        `${command} is not in LISTS`
      )
  })

  for (const [command] of LISTS) {
    it(`souk ${command} fits ${LINE_CHARS} columns, and can be split at its spaces`, async () => {
      const lines = (await run(command)).trimEnd().split('\n')
      assert.ok(lines.length >= 2)
      for (const line of lines) assert.ok(columnsOnScreen(line) <= LINE_CHARS, `${columnsOnScreen(line)}: ${line}`)
      assert.doesNotMatch(lines.join(''), /\p{Cc}|\p{Cf}/u)
      const [head = [], row = []] = lines.map((line) => line.split(/ {2,}/))
      assert.equal(row.length, head.length, lines.join('\n'))
      assert.ok(!row.some((cell) => /\d…/.test(cell) && cell.includes(AMOUNT.slice(0, 6))), 'an amount was cut')
    })

    it(`souk ${command} --wide shows full ids and all columns`, async () => {
      const [wide, narrow] = [await run(`${command} --wide`), await run(command)]
      assert.doesNotMatch(wide.replaceAll('souk_test_…wxyz', ''), /…(?! *\n)/)
      assert.ok((wide.split('\n')[0] ?? '').length >= (narrow.split('\n')[0] ?? '').length)
      assert.doesNotMatch(wide, /[^\P{Cc}\n]/u)
    })
  }

  for (const [command] of [...LISTS, ['subscriptions'] as const]) {
    it(`souk ${command} says what to do next if there is nothing`, async () => {
      isEmpty = true
      const terminal = await runOf(command)
      assert.equal(terminal.stdout(), '')
      assert.match(terminal.stderr(), /^\S[^\n]*\.\nTry: (?:souk |fewer words)[^\n]+\n$/)
    })
  }

  for (const command of ['key list', 'account list']) {
    it(`souk ${command} ends with an older node, whose list has no pages`, async () => {
      const lines = await run(command)
      isOlder = true
      assert.equal(await run(command), lines)
    })
  }

  for (const [list, command, path] of [
    ['channel list', 'channel close', `channels/${CHANNEL}/close`],
    ['subscriptions', 'subscriptions show', `subscriptions/${UUID}`]
  ] as const) {
    it(`souk ${command} accepts the short id that souk ${list} shows`, async () => {
      const short = (await run(list)).split('\n')[1]?.split(' ')[0] ?? ''
      assert.match(short, /^….{8}$/)
      // The test's node does not have this route. Its target counts.
      await main([...command.split(' '), short], testTerminal({ env: { SOUK_HOME: home } }))
      assert.equal(admin.received.at(-1)?.target, `/admin/v1/${path}`)
    })
  }
})

/** An independent measure: graphemes, two columns for those that terminals draw wide. */
function columnsOnScreen(line: string): number {
  const graphemes = [...new Intl.Segmenter().segment(line)].map(({ segment }) => segment)
  return graphemes.reduce(
    (sum, each) =>
      sum + (/[\u1100-\uffdf\p{Emoji_Presentation}]/u.test(each) && !/[\u2000-\u2fff\ufffd]/.test(each) ? 2 : 1),
    0
  )
}
