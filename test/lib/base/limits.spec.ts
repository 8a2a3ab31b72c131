import assert from 'node:assert/strict'
import * as limits from '../../../lib/base/limits.ts'
import { OPERATION_ROWS } from '../../../lib/store/operation-words.ts'

/** The first limit must be smaller than the second. The text says what breaks otherwise. */
const BELOW: ReadonlyArray<readonly [keyof typeof limits, keyof typeof limits, string]> = [
  ['REQUEST_BYTES_MAX', 'REQUEST_BYTES_CEILING', 'a listing could not raise the default'],
  ['REQUEST_BYTES_CEILING', 'UPLOAD_BYTES_CEILING', 'a body that is passed on could be smaller than one that is held'],
  ['UPSTREAM_TIMEOUT_MS', 'UPSTREAM_TIMEOUT_MS_MAX', 'a listing could not raise the default'],
  ['UPSTREAM_CONNECT_MS', 'UPSTREAM_TIMEOUT_MS', 'connecting would take the whole call'],
  ['DEADLINE_MS_MIN', 'DEADLINE_HOP_MS', 'a hop would leave a deadline that is not worth sending'],
  ['UPSTREAM_TIMEOUT_MS_MAX', 'STREAM_IDLE_MS', 'a stream would end before a slow unary call'],
  ['LOOKUP_MS', 'UPSTREAM_TIMEOUT_MS', 'finding an API would take the whole call'],
  ['JOINING_MS', 'LOOKUP_MS', 'a look-up while the node joins would end as a time-out'],
  ['EXCHANGE_MS', 'LOOKUP_MS', 'one slow peer would take the whole look-up'],
  ['DHT_ANSWER_MS', 'DHT_ANSWER_MS_MAX', 'a peer would not get more time on a slow network'],
  ['DHT_ANSWER_MS_MAX', 'LOOKUP_MS', 'one silent peer of the DHT would take the whole look-up'],
  ['DHT_SILENCE_MS_MIN', 'DHT_SILENCE_MS_MAX', 'the usual response time would not count'],
  ['DHT_SILENCE_MS_MAX', 'DHT_ANSWER_MS', 'a query would wait for silent peers'],
  ['DHT_ASKED_AT_ONCE', 'DHT_ASKED_AT_ONCE_MAX', 'no further peer could be asked in place of a silent one'],
  ['DHT_ASKED_AT_ONCE_MAX', 'DIALS_AT_ONCE', 'one query of dead peers would hold all dials'],
  ['HELLO_MS', 'UPSTREAM_TIMEOUT_MS', 'dialling would take the whole call'],
  ['BULK_OPEN_MS', 'UPSTREAM_TIMEOUT_MS', 'a lost bulk stream would take the whole call'],
  ['RESEND_MS', 'UPSTREAM_TIMEOUT_MS', 'a broken link would take the whole call'],
  ['RESEND_PAUSE_MS', 'RESEND_MS', 'there would be no second attempt'],

  ['GRAPHQL_TOKENS_MAX', 'GRAPHQL_TOKENS_CEILING', 'a listing could not raise the default'],
  ['GRAPHQL_OPENING_MS', 'UPSTREAM_TIMEOUT_MS', 'a quiet subscription would run out of time while it opens'],
  ['EVENTS_HEARTBEAT_MS', 'STREAM_IDLE_MS', 'a quiet stream would count as dead between two signs of life'],
  ['GRAPHQL_EVENT_BYTES_MAX', 'RESPONSE_BYTES_MAX', 'an event could be larger than a whole response'],

  ['LOAD_TICK_MS', 'LOAD_TARGET_MS', 'a turn could not be told from a tick'],
  ['LOAD_TARGET_MS', 'LOAD_LATE_MS', 'a node under overload would be in it for ever'],
  ['LOAD_LATE_MS', 'LOAD_TURN_MS_MAX', 'a crowd would be refused before anything is late'],
  ['LOAD_TICK_MS', 'LOAD_CALM_MS', 'one quiet tick would end an overload'],
  ['HELD_HOLDER_PART', 'HELD_STRANGER_PART', 'one stranger could use up the share of all'],
  ['BODY_WINDOW_MS', 'REQUEST_RECEIVE_MS', 'a body that stopped would be held as long as any'],
  ['READER_STALL_MS', 'STREAM_IDLE_MS', 'a reader that stopped would be held as long as a silent stream'],
  ['IN_FLIGHT_PER_HOST_MAX', 'IN_FLIGHT_STRANGERS_MAX', 'one host could take the places of all strangers'],
  ['IN_FLIGHT_STRANGERS_MAX', 'IN_FLIGHT_PER_INGRESS_MAX', 'strangers could take all places'],
  ['HTTP_CONNECTIONS_PER_HOST_MAX', 'HTTP_CONNECTIONS_MAX', 'one host could take all connections'],
  ['INLINE_BODY_BYTES_MAX', 'FRAME_BYTES_MAX', 'an inline body would not fit its frame'],
  ['FRAME_BYTES_MAX', 'LINK_QUEUE_BYTES_MAX', 'one frame would fill the queue'],
  ['LINK_QUEUE_BYTES_MAX', 'LINK_BUFFER_BYTES_MAX', 'libp2p would reset the stream before we stop'],
  ['LINK_WINDOW_BYTES_MAX', 'LINK_BUFFER_BYTES_MAX', 'one window would overflow the buffer'],
  ['BULK_CHUNK_BYTES_MAX', 'LINK_WINDOW_BYTES_MAX', 'one chunk would fill the window'],
  ['BULK_CHUNK_BYTES_SENT', 'BULK_CHUNK_BYTES_MAX', 'peers would refuse the chunks'],
  ['BULK_CHUNK_BYTES_SENT', 'SOCKET_BUFFER_BYTES', 'each chunk would wait for the one before'],
  ['INLINE_BODY_BYTES_MAX', 'REQUEST_BYTES_MAX', 'no request would ever need a bulk stream'],
  ['PATH_BYTES_MAX', 'FRAME_BYTES_MAX', 'a path would not fit its frame'],
  ['IDEMPOTENCY_KEY_CHARS_MAX', 'HEADER_BYTES_MAX', 'the key would not fit its header'],
  ['BULK_STREAMS_PER_PEER_MAX', 'STREAMS_PER_CONNECTION_MAX', 'bodies would leave no stream for anything else'],

  ['RECORD_REPUT_MS', 'SELF_REPORT_AGE_MS', 'each round of announcements could be of another manifest'],
  ['RESOLUTION_FRESH_MS', 'PROBE_AGAIN_MS', 'a probe would find what was found before'],
  ['PROBE_PAUSE_MS', 'PROBE_AGAIN_MS', 'one API would be probed all the time'],
  ['RECORD_REPUT_MS', 'RECORD_TTL_MS', 'records would run out between two puts'],
  ['RECORD_TTL_MS', 'RECORD_TTL_MS_MAX', 'the default life would be refused'],
  ['RECORD_TTL_MS_MAX', 'MANIFEST_TTL_MS', 'a record could outlive the manifest it points to'],
  ['RECORD_TTL_MS_MAX', 'DELEGATION_TTL_MS', 'a record could outlive its delegations'],
  ['CLOCK_SKEW_MS', 'RECORD_REPUT_MS', 'a record from the future could block the next one'],
  ['RECORD_BYTES_MAX', 'MANIFEST_BYTES_MAX', 'the record would be no digest'],
  ['RESOLUTION_NEGATIVE_MS', 'RESOLUTION_FRESH_MS', 'a new listing would be denied longer than an old one is believed'],
  ['RESOLUTION_FRESH_MS', 'RESOLUTION_STALE_MS', 'nothing would ever be stale and usable'],
  ['RESOLUTION_STALE_MS', 'RECORD_TTL_MS', 'a resolution could outlive its record'],
  ['CATALOGUE_REFRESH_MS', 'CATALOGUE_FRESH_MS', 'a catalogue would be old before it is read'],
  ['CATALOGUE_PER_PUBLISHER_MAX', 'CATALOGUE_MAX', 'one publisher could fill the catalogue'],
  ['PAGE_MAX', 'CATALOGUE_MAX', 'pages would be pointless'],
  ['CLAIMANTS_MAX', 'RESOLUTIONS_MAX', 'one bare name could flush the cache'],
  ['TAG_CHARS_MAX', 'DESCRIPTION_CHARS_MAX', 'a tag would be a description'],

  ['STORED_BODY_BYTES_MAX', 'RESPONSE_BYTES_MAX', 'every response would be stored'],
  ['INLINE_BODY_BYTES_MAX', 'STORED_BODY_BYTES_MAX', 'a small response could not be repeated'],
  ['STORED_BODY_BYTES_MAX', 'COMMIT_BATCH_BYTES_MAX', 'commits would hold one response each'],
  ['IN_FLIGHT_PER_PEER_MAX', 'COMMIT_BATCH_MAX', 'one busy peer would fill a commit'],
  ['RESPONSES_DROPPED_AT_ONCE', 'COMMIT_BATCH_MAX', 'tidying up would hold commits up'],
  ['UPSTREAM_TIMEOUT_MS_MAX', 'STORED_RESPONSE_MS', 'a response would be gone before it is asked for'],
  ['WSDL_FILES_MAX', 'WSDL_ZIP_ENTRIES_MAX', 'a zip could not hold a WSDL in files'],
  ['MANIFEST_BYTES_MAX', 'ADMIN_BODY_BYTES_MAX', 'a registration could not carry what a manifest may hold'],

  ['WINDOW_ATOMS', 'CALL_PRICE_ATOMS_MAX', 'signing ahead would risk more than the dearest call does'],
  ['WINDOW_ATOMS', 'EXPOSURE_ATOMS_MAX', 'the window alone would reach the limit'],
  ['CALL_PRICE_ATOMS_MAX', 'EXPOSURE_ATOMS_MAX', 'a dear call could never be made'],
  ['COUNTED_LATEST_ATOMS_MAX', 'COUNTED_LATEST_OWNER_ATOMS_MAX', 'one newcomer would lock out all others'],
  ['COUNTED_LATEST_ATOMS_MAX', 'COUNTED_SAFE_ATOMS_MAX', 'waiting would not make a deposit count more'],
  ['REFUND_WAIT_MS', 'UPSTREAM_TIMEOUT_MS', 'a refund would outlast its call'],
  ['DEMO_PRICE_ATOMS_MAX', 'DEMO_DAILY_ATOMS_MAX', 'a call of the demo could never be made'],
  ['CALL_PRICE_ATOMS_MAX', 'KEY_DAILY_ATOMS_MAX', 'a dear call could never be made'],
  ['KEY_DAILY_ATOMS_MAX', 'DAILY_ATOMS_MAX', 'one key could use up the node'],
  ['CALL_PRICE_ATOMS_MAX', 'ACCOUNT_SLICE_ATOMS_MAX', 'each dear call would wait for a slice of its own'],
  ['SUBSCRIPTION_FRESH_MS', 'SHARED_FRESH_MS', 'a change would not be waited for until nobody goes by what was before'],
  ['HOLDER_BEAT_MS', 'HOLDER_MS', 'a process would be taken for dead between two beats'],
  ['CALL_PRICE_ATOMS_MAX', 'PRICE_ATOMS_MAX', 'the default would allow more than there is']
]

describe('the limits', () => {
  for (const [name, value] of Object.entries(limits)) {
    it(`${name} is a whole number above 0`, () =>
      assert.ok([value].flat().every((each) => each > 0 && (typeof each === 'bigint' || Number.isSafeInteger(each)))))
  }

  for (const [smaller, larger, otherwise] of BELOW) {
    it(`${smaller} is below ${larger}: ${otherwise}`, () => assert.ok(limits[smaller] < limits[larger]))
  }

  it('a frame has room for an inline body, all headers and a path', () => {
    const { FRAME_BYTES_MAX, HEADER_BYTES_MAX, INLINE_BODY_BYTES_MAX, PATH_BYTES_MAX } = limits
    assert.ok(FRAME_BYTES_MAX - HEADER_BYTES_MAX - INLINE_BODY_BYTES_MAX - PATH_BYTES_MAX >= 1_024)
  })

  it('the smallest share of held bodies has room for the largest body', () => {
    const { HELD_BYTES_MAX, HELD_HOLDER_PART, HELD_STRANGER_PART } = limits
    assert.ok(HELD_BYTES_MAX / HELD_HOLDER_PART >= 2 * limits.REQUEST_BYTES_CEILING)
    assert.ok(HELD_BYTES_MAX / HELD_STRANGER_PART >= 2 * limits.REQUEST_BYTES_MAX)
  })

  it('a node whose router restarted has dialled again before its peers give it up', () => {
    const { KEPT_LINKS_CHECK_MS, KEPT_LINK_SLOW_MS, LINK_PROBE_MS, REACH_SETTLE_MS, RESEND_MS, RETURN_MS } = limits
    const backAfterMs = KEPT_LINKS_CHECK_MS + KEPT_LINK_SLOW_MS + LINK_PROBE_MS + REACH_SETTLE_MS
    assert.ok(backAfterMs + limits.DIAL_ADDRESS_MS < Math.min(RESEND_MS, RETURN_MS))
  })

  it('an admin request has room for the largest WSDL in base64', () => {
    assert.ok((limits.WSDL_BYTES_MAX * 4) / 3 + limits.MANIFEST_BYTES_MAX < limits.ADMIN_BODY_BYTES_MAX)
  })

  it('a record survives two failed puts', () => {
    assert.ok(limits.RECORD_TTL_MS >= 3 * limits.RECORD_REPUT_MS)
  })

  it('all hops together use little of the default deadline', () => {
    const hops = 3
    assert.ok(hops * limits.DEADLINE_HOP_MS < limits.UPSTREAM_TIMEOUT_MS / 100)
  })

  it('a new listing is found within ten seconds, by name and by search', () => {
    const found = limits.RESOLUTION_NEGATIVE_MS + limits.LOOKUP_MS
    assert.ok(found <= 10_000)
    assert.ok(limits.CATALOGUE_FRESH_MS + limits.CATALOGUE_REFRESH_MS <= 10_000)
  })

  it('the rows of one listing’s operations do not reach those of the next', () => {
    assert.ok(limits.OPERATIONS_MAX <= OPERATION_ROWS)
  })

  it('an x402 payment lasts for the longest call, at a clock that `souk doctor` finds right', () => {
    assert.ok(limits.PAYMENT_VALID_S * 1_000 > limits.PAYMENT_MARGIN_MS + limits.CLOCK_SKEW_MS)
  })

  it('an API name is a DNS label', () => assert.equal(limits.API_NAME_CHARS_MAX, 63))
})
