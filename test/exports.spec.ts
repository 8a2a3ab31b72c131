import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { scan } from './helpers/scan.ts'

interface Names {
  values: string[]
  types: string[]
}

/**
 *The package's exports by entry point. A change here affects users and belongs in CHANGELOG.md. A failing test prints the
 * actual names, sorted, in the same form.
 */
const EXPORTS: Record<string, Names> = {
  '.': {
    values: [
      'ByteBudget',
      'ERRORS',
      'KeyedMutex',
      'LOGS',
      'LoadControl',
      'Mutex',
      'RateLimiter',
      'SingleFlight',
      'Slots',
      'SoukError',
      'apiId',
      'asSoukError',
      'boundedMap',
      'cappedDay',
      'checkJson',
      'checkRateLimit',
      'checksummed',
      'completeOperations',
      'corked',
      'createFreeScheme',
      'createMemoryStore',
      'createNode',
      'createPostgresStore',
      'createSqliteStore',
      'deadline',
      'equalInConstantTime',
      'formatApiRef',
      'formatRequestId',
      'formatUsdc',
      'freeBuffer',
      'fromHex',
      'handler',
      'isApiName',
      'isErrorCode',
      'isProviderId',
      'isPublicIp',
      'isSoukError',
      'keySigner',
      'leaseSize',
      'limits',
      'logOf',
      'markRestored',
      'nestsDeeperThan',
      'parseAddress',
      'parseApiRef',
      'parseExactly',
      'parseUsdc',
      'rawNumber',
      'reachabilityText',
      'requestIds',
      'sha256',
      'sleep',
      'souk',
      'soukDht',
      'soukGossip',
      'soukTcp',
      'soukWebSockets',
      'splitterFactory',
      'storeFaultOf',
      'systemClock',
      'systemRandom',
      'text',
      'toHex',
      'toProblem',
      'trustedTime',
      'utf8'
    ],
    types: [
      'ApiId',
      'ApiRef',
      'Atoms',
      'ByteShare',
      'Clock',
      'ErrorCode',
      'ErrorSource',
      'Handler',
      'HandlerInput',
      'HeldBytes',
      'Hex',
      'NodeOptions',
      'PostgresStoreInit',
      'Problem',
      'Random',
      'RateLimit',
      'ReachabilityText',
      'RelayFor',
      'SoukComponents',
      'SoukDhtInit',
      'SoukGossipInit',
      'SoukInit',
      'SoukNode',
      'SoukTcpInit',
      'SoukWebSocketsInit',
      'SqliteStoreInit',
      'StoreFault',
      'Timer'
    ]
  },
  './protocols': {
    values: [
      'connectorTo',
      'createUpstream',
      'discoverUpstream',
      'graphqlFactory',
      'protocolDescriptors',
      'protocolFactories',
      'restFactory',
      'soapFactory',
      'sseResults'
    ],
    types: [
      'DescriptionSource',
      'DiscoveredApi',
      'ProtocolDescriptor',
      'ProtocolName',
      'RequestForm',
      'SoapMapping',
      'Upstream',
      'UpstreamRequest',
      'UpstreamResponse'
    ]
  },
  './node': {
    values: ['NETWORKS', 'SetupError', 'loadConfig', 'locateProfile', 'runNode'],
    types: [
      'LoadOptions',
      'Network',
      'NodeConfig',
      'NodeInfo',
      'PortPreference',
      'ProfileLocation',
      'RunOptions',
      'RunningNode',
      'SetupErrorCode'
    ]
  },
  './interface': {
    values: [
      'CHALLENGE_EXTENSION',
      'CHANNEL_MOVES',
      'DISPUTE_STATES',
      'LISTING_MOVES',
      'LISTING_SORTS',
      'PAYMENT_MEMBER',
      'PERIODS',
      'RATE_MEMBER',
      'RESOURCE_HEADER',
      'SUBSCRIPTION_MOVES',
      'SoukError',
      'UPSTREAM_METHODS',
      'isSoukError',
      'operationCount'
    ],
    types: [
      'Adapter',
      'AdapterFactory',
      'AdapterReply',
      'AdapterRequest',
      'Address',
      'Admission',
      'ApiDescription',
      'ApiId',
      'ApiRef',
      'Atoms',
      'Attempt',
      'Balance',
      'Block',
      'BlockTag',
      'BookedEntry',
      'Broadcast',
      'BulkSink',
      'BulkSource',
      'Call',
      'CallEffects',
      'CallHandler',
      'CallInit',
      'CallLog',
      'CallOutcome',
      'CallOutcomeSeen',
      'CallRecord',
      'CallReply',
      'CallResponse',
      'CallTiming',
      'Caller',
      'Catalogue',
      'Chain',
      'ChainParameters',
      'Channel',
      'ChannelConfig',
      'ChannelId',
      'ChannelPhase',
      'ChannelState',
      'ChannelsAt',
      'ChargeRule',
      'Claim',
      'ClaimLog',
      'ClaimMark',
      'ClientCredentials',
      'Clock',
      'ContractCall',
      'Delegation',
      'DepositPayment',
      'DepositTransaction',
      'Deposits',
      'Deprecation',
      'DeprecationNotice',
      'DescribedOptions',
      'DescriptionRoot',
      'Descriptions',
      'Directory',
      'DirectoryRecord',
      'Dispute',
      'DisputeState',
      'DocumentPut',
      'Documents',
      'Drawn',
      'Earnings',
      'Entry',
      'EntryQuery',
      'ErrorCode',
      'ErrorSource',
      'EventBudget',
      'EventFrames',
      'EventTerms',
      'ExchangeHandler',
      'ExchangeOptions',
      'Failure',
      'Fees',
      'Fencing',
      'FoundListing',
      'Gossip',
      'GossipHandler',
      'GossipVerdict',
      'Grade',
      'GraphqlTerms',
      'Headers',
      'Hex',
      'IncomingCall',
      'IndexedListing',
      'Inspection',
      'JsonSchema',
      'KnownClaim',
      'Ledger',
      'Link',
      'Listing',
      'ListingBounds',
      'ListingChanges',
      'ListingHead',
      'ListingIndex',
      'ListingInit',
      'ListingPut',
      'ListingQuery',
      'ListingSort',
      'ListingState',
      'LoggedCall',
      'Manifest',
      'ManifestSigner',
      'MappedPort',
      'MappingProblem',
      'MappingSupport',
      'MatchingListing',
      'Offer',
      'Operation',
      'OperationBounds',
      'OperationRange',
      'OperationSummary',
      'OperationsPut',
      'Order',
      'Outcome',
      'OwnSubscription',
      'Payload',
      'Payment',
      'PaymentScheme',
      'PaymentSchemeComponents',
      'PaymentSchemeRetention',
      'PeerAddress',
      'Period',
      'PinnedContract',
      'Plan',
      'PlanInit',
      'PortMapping',
      'Posting',
      'Probed',
      'Problem',
      'Protocol',
      'ProviderEarnings',
      'Published',
      'PublishedApi',
      'PutOutcome',
      'Quality',
      'Quota',
      'Random',
      'RateLimit',
      'RateLimitStatus',
      'Reachability',
      'Receipt',
      'ReceiptPage',
      'ReceiptQuery',
      'ReceiptRow',
      'ReceiverState',
      'Redemption',
      'Replay',
      'Reputation',
      'Reservation',
      'Resolution',
      'ResolveOptions',
      'Resolver',
      'Retention',
      'SearchPage',
      'SearchQuery',
      'SelfReport',
      'ServeOptions',
      'Settled',
      'SettledTransaction',
      'Signals',
      'Signature',
      'SignedManifest',
      'Signer',
      'Simulation',
      'Souk',
      'SoukStatus',
      'SplitterState',
      'Store',
      'StoredResponse',
      'SubscribeInit',
      'SubscriberPage',
      'SubscriberQuery',
      'Subscription',
      'SubscriptionChange',
      'SubscriptionOptions',
      'SubscriptionState',
      'SubscriptionTerms',
      'Subscriptions',
      'Tier',
      'Timer',
      'TokenParameters',
      'TrimRules',
      'Trimmed',
      'UpstreamAuth',
      'UpstreamConfig',
      'UpstreamGuard',
      'UpstreamMethod',
      'UsageRow',
      'Voucher',
      'Wallet',
      'WalletBalance',
      'Withdrawal',
      'WsdlSource'
    ]
  },
  './pay': {
    values: [
      'CREATE2_DEPLOYER',
      'createChain',
      'createChannelScheme',
      'deploySplitters',
      'estimateSplitters',
      'splitterFactory',
      'verifyReceipt',
      'verifySplitters'
    ],
    types: [
      'ChannelScheme',
      'ChannelSchemeInit',
      'ChannelSummary',
      'ClosedChannel',
      'DeploySplittersInit',
      'DeployedSplitters',
      'PayRules',
      'ReceiptBody',
      'Settlement',
      'SplitterFactory'
    ]
  },
  './client': {
    values: ['SoukError', 'createClient', 'isSoukError'],
    types: [
      'Answer',
      'AnswerHead',
      'CallOptions',
      'Client',
      'ClientErrorCode',
      'ClientInit',
      'ItemStream',
      'PaymentHook',
      'PaymentOption',
      'PaymentTerms',
      'SoukErrorInit',
      'StreamItem',
      'TypedApi',
      'TypedOperation'
    ]
  },
  './testing': {
    values: ['createTestnet'],
    types: ['Testnet', 'TestnetInit']
  }
}

const ROOT = resolve(import.meta.dirname, '..')

describe('exports', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { development: string }>
  }
  const entries = Object.entries(manifest.exports).flatMap(([entry, conditions]) =>
    typeof conditions === 'string' ? [] : [[entry, conditions.development] as const]
  )

  it('are listed for every entry point of package.json', () => {
    assert.deepEqual(Object.keys(EXPORTS).sort(), entries.map(([entry]) => entry).sort())
  })

  for (const [entry, path] of entries) {
    const expected = EXPORTS[entry]
    if (expected === undefined) continue
    it(`of souk${entry.slice(1)} are unchanged`, async () => {
      const module = (await import(`souk${entry.slice(1)}`)) as object
      const actual = { values: Object.keys(module).sort(), types: exportedTypes(path) }
      assert.deepEqual(actual, expected, `${entry} exports other names:\n${JSON.stringify(actual, null, 2)}`)
    })
  }
})

/** The types that an entry point re-exports by name, and its `*` type re-exports. */
function exportedTypes(path: string): string[] {
  const { imports, tokens } = scan(path, readFileSync(join(ROOT, path), 'utf8'))
  const types: string[] = []
  for (const { kind, typeOnly, names, specifier, from, to } of imports) {
    if (kind !== 'export') continue
    if (names.length === 1 && names[0] === '*' && tokens[to - 2]?.text === '*') types.push(`* from ${specifier}`)
    let isType = typeOnly
    for (let at = from; at < to; at++) {
      const [text, next] = [tokens[at]?.text ?? '', tokens[at + 1]?.text ?? '']
      if (text === '{' || text === ',') isType = typeOnly || (next === 'type' && tokens[at + 2]?.text !== ',')
      const endsName = (next === ',' || next === '}') && !['{', ',', '}'].includes(text)
      if (isType && endsName) types.push(text)
    }
  }
  return types.sort()
}
