import assert from 'node:assert/strict'
import { PRICE_ATOMS_MAX } from '../../../../lib/base/limits/directory.ts'
import { PLANS_MAX, SUNSET_MS_MIN } from '../../../../lib/base/limits/plans.ts'
import { TIME_MS_MAX } from '../../../../lib/base/limits/time.ts'
import type { Manifest } from '../../../../lib/interface/manifest.ts'
import type { Plan } from '../../../../lib/interface/plan.ts'
import { checkManifest } from '../../../../lib/resolve/manifest/check-manifest.ts'
import { idOf, keyOf, manifestOf, NOW } from '../fixtures.ts'

const PLAN: Plan = { id: 'pro', name: 'Pro', fee: 5n, period: 'month', trialDays: 0, overage: [], since: NOW }
const TIER = { price: 1n }

describe('a manifest with plans', () => {
  let provider: string
  before(async () => {
    provider = idOf(await keyOf('a'))
  })

  const check = (changes: Partial<Manifest>) => checkManifest(manifestOf(provider, changes))
  const refused = (changes: Partial<Manifest>) => assert.throws(() => check(changes), { code: 'invalid_request' })

  it('is valid with all fields present', () => {
    const full = { ...PLAN, id: 'full', description: 'All\nof it', included: 5, trialDays: 14, closedAt: NOW }
    check({
      plans: [PLAN, { ...full, overage: [{ upTo: 1, price: 0n }, { upTo: 2, price: PRICE_ATOMS_MAX }, TIER] }],
      payPerCall: false,
      major: 2,
      deprecation: { at: NOW, sunsetAt: NOW + SUNSET_MS_MIN, successor: `b@${provider}`, link: 'https://a.example/b?c' }
    })
    check({ plans: [{ ...PLAN, included: 0, overage: [TIER] }] })
  })

  const plans: Record<string, Partial<Plan>> = {
    'an id that is no name': { id: 'Pro' },
    'no name': { name: '' },
    'control characters in its name': { name: 'a\u0007b' },
    'control characters in its description': { description: '\u001b[2J' },
    'a fee below zero': { fee: -1n },
    'a fee that is too high': { fee: PRICE_ATOMS_MAX + 1n },
    'a period of its own': { period: 'decade' as 'year' },
    'half a day of trial': { trialDays: 0.5 },
    'a trial of years': { trialDays: 1_000 },
    'a fraction of a call': { included: 1.5 },
    'less than no calls': { included: -1 },
    'no call at all': { included: 0 },
    'a rate of no calls': { rateLimit: { calls: 0, perMs: 1 } },
    'a rate over more than a day': { rateLimit: { calls: 1, perMs: 86_400_001 } },
    'no call at once': { inFlightMax: 0 },
    'more calls at once than a listing has': { inFlightMax: 513 },
    'overage where any number is included': { overage: [TIER] },
    'a tier after the last one': { included: 1, overage: [TIER, TIER] },
    'tiers that do not follow each other': {
      included: 1,
      overage: [
        { upTo: 5, price: 1n },
        { upTo: 5, price: 2n }
      ]
    },
    'a tier of no call': { included: 1, overage: [{ upTo: 0, price: 1n }] },
    'a tier at a price below zero': { included: 1, overage: [{ price: -1n }] },
    'too many tiers': { included: 1, overage: Array.from({ length: 9 }, (_, i) => ({ upTo: i + 1, price: 1n })) },
    'times that are none': { since: -1 },
    'an end that is none': { closedAt: 0 },
    'a time that no date can have': { since: TIME_MS_MAX + 1 },
    'an end that no date can have': { closedAt: TIME_MS_MAX + 1 }
  }
  for (const [what, change] of Object.entries(plans)) {
    it(`is refused for a plan with ${what}`, () => refused({ plans: [{ ...PLAN, ...change }] }))
  }

  it('is refused for too many plans, duplicate ids, or no plan where one is required', () => {
    refused({ plans: Array.from({ length: PLANS_MAX + 1 }, (_, i) => ({ ...PLAN, id: `p${i}` })) })
    refused({ plans: [PLAN, PLAN] })
    refused({ plans: [] })
    refused({ payPerCall: false })
  })

  it('is refused for an invalid major version or notice', () => {
    for (const major of [0, 1, 1.5, 1_001]) refused({ major })
    const good = { at: NOW, sunsetAt: NOW + SUNSET_MS_MIN }
    refused({ deprecation: { ...good, sunsetAt: NOW + SUNSET_MS_MIN - 1 } })
    refused({ deprecation: { ...good, sunsetAt: TIME_MS_MAX + 1 } })
    refused({ deprecation: { ...good, successor: 'ticker@nobody' } })
    for (const link of ['http://a.example/', 'https://a.example/>; rel="x"', 'https://a.example/\r\nx: y', 'nothing']) {
      refused({ deprecation: { ...good, link } })
    }
  })
})
