/** Limits: Plans and subscriptions. */
import { KiB, SECOND, MINUTE, DAY } from './units.ts'

/** Cached subscriptions by account and API. */
export const BINDINGS_CACHED_MAX = 20_000
/** Plans of one listing, closed ones included. */
export const PLANS_MAX = 16
/** Name of a plan. */
export const PLAN_NAME_CHARS_MAX = 63
/** Description of a plan. */
export const PLAN_DESCRIPTION_CHARS_MAX = 500
/** Price tiers of one plan. */
export const PLAN_TIERS_MAX = 8
/** Calls of a period or a tier. Every format can represent this number. */
export const PLAN_CALLS_MAX = 1_000_000_000_000
/** Days of a trial. A longer one is a free plan. */
export const TRIAL_DAYS_MAX = 90
/** Highest major version of a listing. */
export const MAJOR_MAX = 1_000
/** Shortest time for which subscribers keep terms that the provider changed. */
export const TERMS_KEPT_MS = 14 * DAY
/** Shortest time between a deprecation notice and the end of the listing. */
export const SUNSET_MS_MIN = 30 * DAY
/** The name of a retired listing stays reserved this long, and its callers get `api_retired`. */
export const TOMBSTONE_MS = 180 * DAY
/** URL in a deprecation notice. */
export const LINK_CHARS_MAX = 500
/** Pseudonym of a subscription's account, as its owner sees it. */
export const ACCOUNT_PSEUDONYM_CHARS_MAX = 64
/** Additional nodes that may call with one subscription. */
export const SUBSCRIPTION_PEERS_MAX = 8
/** Message about a subscription: a full plan and a few names. */
export const SUBSCRIPTION_BODY_BYTES_MAX = 16 * KiB
/** Subscriptions without a fee, or with a trial, that one peer creates at once. A public ingress creates one for each of its consumers. */
export const FREE_SUBSCRIPTIONS_PER_PEER_BURST = 1_000
/** Time until the same peer may create one more. */
export const FREE_SUBSCRIPTION_PER_PEER_REFILL_MS = 10 * SECOND
/** The same of all peers together, because peer ids and accounts are free to create. */
export const FREE_SUBSCRIPTIONS_BURST = 10_000
/** Time until one more may be created by any peer: 86,400 a day, which take about 100 MB. */
export const FREE_SUBSCRIPTION_REFILL_MS = 1 * SECOND
/** A subscription without a fee, or on trial, is deleted this long after its period. */
export const FREE_SUBSCRIPTION_KEPT_MS = 90 * DAY
/** An owner remembers this long that a consumer used the trial of an API. */
export const TRIAL_KEPT_MS = 365 * DAY
/** Peers whose subscriptions without a fee are counted. */
export const FREE_SUBSCRIBERS_MAX = 10_000
/** A renewal within period/24 after the end continues the period; a later one starts a new period. */
export const RENEWAL_GRACE_PART = 24
/** A node pays for the next period only after this percentage of the last one that it paid, whatever the owner says. */
export const PAID_PERIOD_PERCENT = 90
/** An owner that has refused to renew because the period is not over is asked again after this time. */
export const RENEWAL_PAUSE_MS = 1 * SECOND
/** Cached subscription records. */
export const SUBSCRIPTIONS_CACHED_MAX = 10_000
/** Cache time of a subscription that another process may change. */
export const SUBSCRIPTION_FRESH_MS = 1 * SECOND
/** A change of a subscription waits this long until the deposit for its fee counts. HTTP clients wait 30 s for a response. */
export const FEE_WAIT_MS = 20 * SECOND
/** The same for the operator, whose command line waits up to five minutes. A deposit above $1 counts in a `safe` block: minutes on Base. */
export const FEE_WAIT_OPERATOR_MS = 4 * MINUTE
/** Pause between two attempts meanwhile: half a block of Base. */
export const FEE_PAUSE_MS = 1 * SECOND
/** Calls that one replica reserves at once from a shared quota. */
export const QUOTA_SLICE_MAX = 64
/** A replica reserves at most one part in this many of the remaining quota. */
export const QUOTA_SLICE_PART = 16
/** Attempts to change a shared count under contention. */
export const REPLACE_TRIES_MAX = 50
/** Time between two checks of the links to owners of subscribed APIs. A cached lookup is fresh for as long. */
export const WARM_LINKS_CHECK_MS = 60 * SECOND
/** Subscribed APIs with such links, the newest ones. The others are dialled when they are called. */
export const WARM_LINKS_MAX = 64
