import { isApiName, isProviderId } from '../../base/api-name.ts'
import { checkRateLimit } from '../../base/gcra.ts'
import { IN_FLIGHT_PER_API_MAX } from '../../base/limits/admission.ts'
import { PRICE_ATOMS_MAX } from '../../base/limits/directory.ts'
import {
  LINK_CHARS_MAX,
  MAJOR_MAX,
  PLAN_CALLS_MAX,
  PLAN_DESCRIPTION_CHARS_MAX,
  PLAN_NAME_CHARS_MAX,
  PLAN_TIERS_MAX,
  PLANS_MAX,
  SUNSET_MS_MIN,
  TRIAL_DAYS_MAX
} from '../../base/limits/plans.ts'
import { TIME_MS_MAX } from '../../base/limits/time.ts'
import type { Deprecation, Manifest } from '../../interface/manifest.ts'
import { PERIODS, type Plan, type Tier } from '../../interface/plan.ts'

/** Throws an error with `otherwise` where `holds` is false. */
type Must = (holds: boolean, otherwise: string) => void

/** Checks a listing's plans and deprecation notice. `isText` tells whether a text is safe to show. */
export function checkPlans(manifest: Manifest, must: Must, isText: (text: string) => boolean): void {
  const { plans, payPerCall, major, deprecation } = manifest
  must(plans === undefined || (plans.length > 0 && plans.length <= PLANS_MAX), `it has more than ${PLANS_MAX} plans`)
  const ids = new Set((plans ?? []).map(({ id }) => id))
  must(ids.size === (plans?.length ?? 0), 'two of its plans have the same id')
  for (const plan of plans ?? []) checkPlan(plan, must, isText)
  must(payPerCall === undefined || ids.size > 0, 'it requires a subscription, but has no plan')
  must(major === undefined || (isCount(major, MAJOR_MAX) && major > 1), 'its major version is out of range')
  if (deprecation !== undefined) checkDeprecation(deprecation, must, isText)
}

function checkPlan(plan: Plan, must: Must, isText: (text: string) => boolean): void {
  const { id, name, description, fee, period, trialDays, included, overage, since, closedAt, rateLimit, inFlightMax } =
    plan
  must(isApiName(id), 'the id of a plan must be a-z, 0-9 and "-", not starting with "-"')
  const its = `its plan "${id.slice(0, PLAN_NAME_CHARS_MAX)}"`
  const of = `of ${its}`
  must(name.length > 0 && name.length <= PLAN_NAME_CHARS_MAX && isText(name), `the name ${of} is empty or too long`)
  must(
    description === undefined || (description.length <= PLAN_DESCRIPTION_CHARS_MAX && isText(description)),
    `the description ${of} is over ${PLAN_DESCRIPTION_CHARS_MAX} characters, or has control characters`
  )
  must(isPrice(fee), `the fee ${of} is out of range`)
  must(PERIODS.includes(period), `the period ${of} must be one of ${PERIODS.join(', ')}`)
  must(isCount(trialDays, TRIAL_DAYS_MAX), `the trial ${of} has more than ${TRIAL_DAYS_MAX} days`)
  must(included === undefined || isCount(included, PLAN_CALLS_MAX), `the included calls ${of} are out of range`)
  must(included !== undefined || overage.length === 0, `${its} includes unlimited calls, so it cannot have overage`)
  must(included !== 0 || overage.length > 0, `${its} includes no calls, and has no overage`)
  if (rateLimit !== undefined) checkRateLimit(rateLimit)
  must(
    inFlightMax === undefined || (isCount(inFlightMax, IN_FLIGHT_PER_API_MAX) && inFlightMax > 0),
    `the concurrent calls ${of} must be 1 to ${IN_FLIGHT_PER_API_MAX}`
  )
  checkTiers(overage, of, must)
  must(isTime(since) && (closedAt === undefined || (isTime(closedAt) && closedAt > 0)), `the times ${of} are invalid`)
}

function checkTiers(tiers: readonly Tier[], of: string, must: Must): void {
  must(tiers.length <= PLAN_TIERS_MAX, `the overage ${of} has more than ${PLAN_TIERS_MAX} tiers`)
  let last = 0
  for (const [i, { upTo, price }] of tiers.entries()) {
    must(isPrice(price), `a price ${of} is out of range`)
    must(upTo !== undefined || i === tiers.length - 1, `only the last tier ${of} can have no end`)
    must(
      upTo === undefined || (isCount(upTo, PLAN_CALLS_MAX) && upTo > last),
      `the tiers ${of} are not in ascending order`
    )
    last = upTo ?? last
  }
}

function checkDeprecation(
  { at, sunsetAt, successor, link }: Deprecation,
  must: Must,
  isText: (text: string) => boolean
) {
  must(isTime(at) && isTime(sunsetAt), 'the times of its deprecation are out of range')
  must(sunsetAt - at >= SUNSET_MS_MIN, 'its end is less than 30 days after the notice')
  const [name = '', provider = '', ...rest] = successor?.split('@') ?? []
  const isApi = isApiName(name) && isProviderId(provider) && rest.length === 0
  must(successor === undefined || isApi, 'its successor is not name@provider')
  const isLink = link === undefined || (link.length <= LINK_CHARS_MAX && isText(link) && isHttps(link))
  must(isLink, `its link is not an https: URL of at most ${LINK_CHARS_MAX} characters`)
}

/** The link must be safe inside a header between `<` and `>`. */
function isHttps(link: string): boolean {
  return (
    URL.canParse(link) &&
    new URL(link).protocol === 'https:' &&
    /^[\u0021-\u007e]+$/.test(link) &&
    !/[<>"\\]/.test(link)
  )
}

const isPrice = (price: bigint): boolean => price >= 0n && price <= PRICE_ATOMS_MAX

const isTime = (time: number): boolean => isCount(time, TIME_MS_MAX)

const isCount = (count: number, max: number = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(count) && count >= 0 && count <= max
