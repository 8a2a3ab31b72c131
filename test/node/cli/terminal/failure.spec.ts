import assert from 'node:assert/strict'
import { ERRORS, type ErrorCode, SoukError, toProblem } from '../../../../lib/base/errors.ts'
import { AdminProblem, NodeNotRunning } from '../../../../node/admin/node/node-errors.ts'
import { failureLines, failureOf } from '../../../../node/cli/terminal/failure.ts'
import { forProfile } from '../../../../node/profile/for-profile.ts'
import { main } from '../../../../node/cli/program.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

/** Errors of HTTP clients only. Commands send no consumer keys and no x402 payments. */
const NEVER_TYPED: readonly ErrorCode[] = [
  'key_missing',
  'key_invalid',
  'key_expired',
  'key_revoked',
  'key_disabled',
  'payment_malformed',
  'payment_rejected',
  'payment_id_conflict',
  'fee_not_accepted',
  'ingress_not_allowed',
  'unsupported_media_type',
  'upgrade_required'
]
/** The problem needs no hint, or contains the candidates. */
const SELF_EVIDENT: readonly ErrorCode[] = [
  'internal_error',
  'invalid_request',
  'name_conflict',
  'response_too_large',
  'soap_fault'
]

describe('errors on the command line', () => {
  const failureFor = (code: ErrorCode) =>
    failureOf(new AdminProblem(toProblem(new SoukError(code, 'Why it is so.'), '019a-7')))
  const codes = Object.keys(ERRORS) as ErrorCode[]

  it('show a hint and the request id', () => {
    assert.deepEqual(failureLines(failureFor('spend_cap_reached')), [
      'souk: The spending cap is reached.',
      '  Why it is so.',
      'Try: the call again after midnight UTC, or a higher --daily-cap with souk up, or souk subscriptions change',
      'Request id: 019a-7'
    ])
  })

  it('name both limits of a subscription if a price is above one', () => {
    // The limit of a fee has the same code as that of a call.
    assert.match(failureFor('price_exceeds_limit').hint ?? '', /--max-price.*--max-fee/)
  })

  it('show the hint of the reason instead of that of the code', () => {
    for (const [code, reason, hint] of [
      ['payment_required', 'trial_used', /--no-trial/],
      ['invalid_request', 'subscribed', /souk subscriptions change/],
      ['invalid_request', 'key_state', /souk key list/]
    ] as const) {
      const problem = toProblem(new SoukError(code, 'Why it is so.', { members: { reason } }), '019a-7')
      assert.match(failureOf(new AdminProblem(problem)).hint ?? '', hint)
    }
  })

  it('advise to correct the arguments only if the command line is wrong', () => {
    const invalid = [{ field: 'limit', message: 'limit: give a number' }]
    const problem = toProblem(
      new SoukError('invalid_request', 'limit: give a number', { members: { invalid } }),
      '019a-7'
    )
    assert.match(failureOf(new AdminProblem(problem)).hint ?? '', /^to correct the arguments/)
    assert.equal(failureFor('invalid_request').hint, undefined, 'such as an id that does not exist')
  })

  it('name the profile that the user named in the commands of a hint', () => {
    assert.equal(forProfile('souk api list; or souk sell <url>', undefined), 'souk api list; or souk sell <url>')
    assert.equal(
      forProfile('souk api list; or souk sell <url>', 'shop'),
      'souk --profile shop api list; or souk --profile shop sell <url>'
    )
    assert.equal(forProfile('souk up --profile shop', 'shop'), 'souk up --profile shop')
    const elsewhere = 'the provider should run souk doctor: its node announces no address'
    assert.equal(forProfile(elsewhere, 'shop'), elsewhere)
  })

  it('put the start of an existing profile first, and never the first node of a demo', () => {
    const others = ['demo-bootstrap', 'demo-consumer', 'dev-bootstrap']
    assert.equal(new NodeNotRunning('shop', others).hint, 'souk up --profile shop, or --profile demo-consumer')
    assert.equal(new NodeNotRunning('default', others, true).hint, '--profile demo-consumer, or souk init')
  })

  it('tell the faults of the node that serves the API from those of this node', () => {
    const atOwner = toProblem(new SoukError('storage_full', undefined, { source: 'owner' }), '019a-7')
    assert.match(failureOf(new AdminProblem(atOwner)).hint ?? '', /the node that serves the API/)
    assert.match(failureFor('storage_full').hint ?? '', /disk of the profile/)
  })

  it('have a hint for every code that a command can get', () => {
    const without = codes.filter((code) => failureFor(code).hint === undefined)
    assert.deepEqual(without.toSorted(), [...NEVER_TYPED, ...SELF_EVIDENT].toSorted())
  })

  it('name existing commands only', async () => {
    const commands = codes.flatMap((code) => [...(failureFor(code).hint ?? '').matchAll(/souk((?: [a-z]+)+)/g)])
    assert.ok(commands.length > 10)
    for (const [typed, words = ''] of commands) {
      const help = await helpOf(words.trim().split(' '))
      // The words after the command are not part of it.
      const [, command = ''] = /^Usage: (souk(?: [a-z-]+)+)/.exec(help) ?? []
      assert.ok(typed.startsWith(command) && command !== '', typed)
    }
  })
})

async function helpOf(words: readonly string[]): Promise<string> {
  const terminal = testTerminal()
  assert.equal(await main([...words, '--help'], terminal), 0)
  return terminal.stdout()
}
