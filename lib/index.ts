/**
 * Souk as a library: `import { souk } from 'souk'`. Re-exports only. A name that is not exported here is not public.
 *
 * @packageDocumentation
 */
export { type ApiId, type ApiRef, apiId, formatApiRef, isApiName, isProviderId, parseApiRef } from './base/api-name.ts'
export { boundedMap } from './base/bounded-map.ts'
export { ByteBudget, type ByteShare, type HeldBytes } from './base/byte-budget.ts'
export { equalInConstantTime, freeBuffer, sha256, text, utf8 } from './base/bytes.ts'
export { type Clock, deadline, sleep, systemClock, type Timer } from './base/clock.ts'
export { logOf, LOGS } from './base/component-log.ts'
export {
  asSoukError,
  ERRORS,
  type ErrorCode,
  type ErrorSource,
  isErrorCode,
  isSoukError,
  type Problem,
  SoukError,
  toProblem
} from './base/errors.ts'
export { checkRateLimit, type RateLimit, RateLimiter } from './base/gcra.ts'
export { parseExactly, rawNumber } from './base/exact-json.ts'
export { checkJson, nestsDeeperThan } from './base/json-text.ts'
export * as limits from './base/limits.ts'
export { type Atoms, formatUsdc, parseUsdc } from './base/money.ts'
export { fromHex, type Hex, toHex } from './base/hex.ts'
export { cappedDay } from './base/capped-day.ts'
export { leaseSize } from './base/lease-size.ts'
export { LoadControl } from './base/load-control.ts'
export { Slots } from './base/slots.ts'
export { KeyedMutex, Mutex } from './base/mutex.ts'
export { type Random, systemRandom } from './base/random.ts'
export { formatRequestId, requestIds } from './base/request-id.ts'
export { SingleFlight } from './base/single-flight.ts'
export { createNode, type NodeOptions, type SoukNode } from './create-node.ts'
export { completeOperations } from './describe/complete.ts'
export { corked } from './link/cork.ts'
export { isPublicIp } from './link/public-addresses.ts'
export { reachabilityText, type ReachabilityText } from './link/reach/reachability-text.ts'
export type { RelayFor } from './link/reach/relay-policy.ts'
export { soukGossip, type SoukGossipInit } from './link/souk-gossip.ts'
export { soukTcp, type SoukTcpInit } from './link/souk-tcp.ts'
export { soukWebSockets, type SoukWebSocketsInit } from './link/websocket/souk-websockets.ts'
export type { SoukInit } from './options.ts'
export { type Handler, type HandlerInput, handler } from './owner/handler.ts'
export { markRestored } from './owner/restored.ts'
export { checksummed, parseAddress } from './pay/signing/address.ts'
export { splitterFactory } from './pay/chain/splitter.ts'
export { createFreeScheme } from './pay/free-scheme.ts'
export { keySigner } from './pay/signing/key-signer.ts'
export { soukDht, type SoukDhtInit } from './resolve/directory/dht.ts'
export { trustedTime } from './retention/trusted-time.ts'
export { souk } from './service.ts'
export { type SoukComponents } from './wiring/souk-components.ts'
export { createMemoryStore } from './store/memory/store.ts'
export { createPostgresStore, type PostgresStoreInit } from './store/postgres/store.ts'
export { type StoreFault, storeFaultOf } from './store/sqlite/errors.ts'
export { createSqliteStore, type SqliteStoreInit } from './store/sqlite/store.ts'
