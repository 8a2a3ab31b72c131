export { type ErrorCode, type ErrorSource, type Problem, SoukError, isSoukError } from '../base/errors.ts'
export type { ApiId, ApiRef } from '../base/api-name.ts'
export type { Hex } from '../base/hex.ts'
export type { Atoms } from '../base/money.ts'
export type { Clock, Timer } from '../base/clock.ts'
export type { Random } from '../base/random.ts'
export type { RateLimit } from '../base/gcra.ts'
export {
  type Adapter,
  type AdapterFactory,
  type AdapterReply,
  type AdapterRequest,
  type ApiDescription,
  type EventFrames,
  type ClientCredentials,
  type GraphqlTerms,
  type Inspection,
  type JsonSchema,
  type MappingProblem,
  type MappingSupport,
  type Operation,
  type Protocol,
  UPSTREAM_METHODS,
  type UpstreamAuth,
  type UpstreamConfig,
  type UpstreamGuard,
  type UpstreamMethod,
  type WsdlSource
} from './adapter.ts'
export type { Attempt, Call, CallResponse, Caller, CallHandler, IncomingCall } from './call.ts'
export type {
  Block,
  BlockTag,
  Broadcast,
  Chain,
  ChannelsAt,
  ChannelState,
  ContractCall,
  Fees,
  Receipt,
  ReceiverState,
  Simulation,
  SplitterState
} from './chain.ts'
export { CHANNEL_MOVES, type ChannelConfig, type ChannelId, type ChannelPhase, type Voucher } from './channel.ts'
export { DISPUTE_STATES, type Dispute, type DisputeState } from './disputes.ts'
export type { DescribedOptions, Descriptions, OperationRange } from './description.ts'
export type { OperationSummary } from './operation-summary.ts'
export { type DescriptionRoot, operationCount, type PublishedApi } from './published-api.ts'
export type {
  Catalogue,
  Directory,
  DirectoryRecord,
  FoundListing,
  Offer,
  Published,
  Resolution,
  ResolveOptions,
  Resolver,
  SearchPage,
  SearchQuery
} from './directory.ts'
export type { Gossip, GossipHandler, GossipVerdict } from './gossip.ts'
export type { Deposits, DepositPayment, DepositTransaction } from './deposits.ts'
export type { Balance, BookedEntry, DocumentPut, Drawn, Entry, EntryQuery, Ledger, Posting } from './ledger.ts'
export type { Earnings, ProviderEarnings, SettledTransaction } from './earnings.ts'
export {
  type Grade,
  type IndexedListing,
  LISTING_SORTS,
  type ListingBounds,
  type ListingChanges,
  type ListingHead,
  type ListingIndex,
  type ListingPut,
  type ListingQuery,
  type ListingSort,
  type MatchingListing,
  type OperationBounds,
  type OperationsPut,
  type PutOutcome
} from './listing-index.ts'
export type {
  BulkSink,
  BulkSource,
  Channel,
  ExchangeHandler,
  ExchangeOptions,
  Link,
  PeerAddress,
  ServeOptions
} from './link.ts'
export {
  type Delegation,
  type Deprecation,
  type DeprecationNotice,
  type EventTerms,
  LISTING_MOVES,
  type ListingState,
  type Manifest,
  type ManifestSigner,
  type SelfReport,
  type SignedManifest
} from './manifest.ts'
export type { ChainParameters, PinnedContract, TokenParameters } from './network.ts'
export type { CallOutcomeSeen, Probed, Quality, Reputation } from './quality.ts'
export type { Headers, Payload } from './payload.ts'
export { type Period, PERIODS, type Plan, type PlanInit, type Tier } from './plan.ts'
export type { ChargeRule } from './charge-rule.ts'
export { RATE_MEMBER, type RateLimitStatus } from './rate.ts'
export type { ReceiptPage, ReceiptQuery, ReceiptRow } from './receipts.ts'
export type { Redemption } from './redeem.ts'
export type { Address, Signature, Signer } from './signer.ts'
export type { CallInit, CallReply, CallTiming, EventBudget, Listing, ListingInit, Souk, SoukStatus } from './souk.ts'
export type {
  CallEffects,
  CallLog,
  CallOutcome,
  CallRecord,
  Claim,
  ClaimLog,
  ClaimMark,
  Documents,
  Fencing,
  KnownClaim,
  LoggedCall,
  Retention,
  Signals,
  Store,
  StoredResponse,
  Trimmed,
  TrimRules,
  UsageRow
} from './store.ts'
export {
  type OwnSubscription,
  type Quota,
  type SubscribeInit,
  type SubscriberPage,
  type SubscriberQuery,
  type Subscription,
  SUBSCRIPTION_MOVES,
  type SubscriptionChange,
  type SubscriptionOptions,
  type Subscriptions,
  type SubscriptionState,
  type SubscriptionTerms
} from './subscription.ts'
export type { Wallet, WalletBalance, Withdrawal } from './wallet.ts'
export {
  type Admission,
  CHALLENGE_EXTENSION,
  type Failure,
  type Order,
  type Outcome,
  type Payment,
  PAYMENT_MEMBER,
  RESOURCE_HEADER,
  type Replay,
  type Reservation,
  type Settled,
  type PaymentScheme,
  type PaymentSchemeComponents,
  type PaymentSchemeRetention
} from './payment-scheme.ts'
export type { Reachability } from './reachability.ts'
export type { MappedPort, PortMapping } from './port-mapping.ts'
