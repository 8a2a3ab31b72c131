import type { ComponentLogger, Logger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { asSoukError, KeyedMutex, limits, logOf, SoukError, utf8 } from '../../lib/index.ts'
import type { Clock, Documents, Random, UpstreamGuard } from '../../lib/interface/index.ts'
import type { UpstreamResponse } from '../../protocols/index.ts'
import type { SecretBox } from '../upstream/secret-box.ts'
import { Deliveries, type Delivery, type Outcome } from './deliveries.ts'
import { isWanted, isWish, type SoukEvent } from './event-types.ts'
import type { Events } from './events.ts'
import { webhookGuard } from './webhook-guard.ts'
import { checkWebhookUrl } from './webhook-url.ts'
import {
  makeSecrets,
  type ShownSecrets,
  shownSecrets,
  signedHeaders,
  type WebhookSecrets
} from './webhook-signature.ts'

/** A webhook as stored. Times in milliseconds since the epoch. */
interface WebhookDocument {
  readonly id: string
  readonly url: string
  /** Event types and patterns like `listing.*`. Empty: all events. */
  readonly events: readonly string[]
  readonly allowsPrivate: boolean
  readonly createdAt: number
  /** Newest first, encrypted with the profile's key. */
  readonly secrets: ReadonlyArray<{ readonly sealed: string; readonly endsAt?: number }>
  /** Why the webhook is disabled. */
  readonly disabled?: string
  readonly deliveredAt?: number
  /** Why the last attempt failed; absent if it succeeded. */
  readonly failed?: string
}

/** A webhook as listed: without its secret. */
export interface WebhookInfo extends Omit<WebhookDocument, 'secrets'> {
  readonly publicKey: string
  /** Number of pending deliveries. */
  readonly pending: number
}

export interface WebhookInit {
  readonly url: string
  readonly events?: readonly string[]
  /** Allow plain HTTP and private addresses. Default false. */
  readonly allowsPrivate?: boolean
}

export interface WebhooksInit {
  readonly documents: Documents
  readonly clock: Clock
  readonly random: Random
  readonly events: Events
  /** Encrypts secrets before they are stored. */
  readonly secretBox: SecretBox
  /** Refuses addresses that no request of this node may go to. */
  readonly guard?: UpstreamGuard
  readonly log: {
    info(message: string): void
    error(message: string, facts?: Readonly<Record<string, unknown>>): void
  }
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
}

const COLLECTION = 'webhooks'
const ID_BYTES = 10

/** Sends events to URLs, as in Standard Webhooks 1.0. */
export class Webhooks {
  readonly #init: WebhooksInit
  readonly #log: Logger
  readonly #known = new Map<string, WebhookDocument>()
  readonly #deliveries: Deliveries
  /** Serializes changes of a webhook, so that a delivery result does not overwrite a user’s change. */
  readonly #changes = new KeyedMutex()

  constructor(init: WebhooksInit) {
    this.#init = init
    const { documents, clock, random, log, logger = defaultLogger() } = init
    this.#log = logOf(logger, 'souk:events')
    this.#deliveries = new Deliveries({
      documents,
      clock,
      random,
      send: ({ webhook, event }, signal) => this.#send(webhook, event, signal),
      onOutcome: (delivery, outcome, isLast) => this.#note(delivery, outcome, isLast),
      onError: (cause) => log.error('a webhook could not be served', { cause })
    })
  }

  async start(): Promise<void> {
    for (const { key, value } of await this.#init.documents.list(COLLECTION)) {
      this.#known.set(key, JSON.parse(value) as WebhookDocument)
    }
    this.#init.events.keepBy((event) => this.#keep(event))
    await this.#deliveries.start()
  }

  stop(): Promise<void> {
    return this.#deliveries.stop()
  }

  /** Returns the secret, which is not shown again. @throws SoukError `invalid_request`, `quota_exceeded` */
  async add({ url, events = [], allowsPrivate = false }: WebhookInit): Promise<WebhookInfo & ShownSecrets> {
    checkWebhookUrl(url, allowsPrivate, this.#init.guard)
    const unknown = events.find((name) => !isWish(name))
    if (unknown !== undefined) {
      throw new SoukError(
        'invalid_request',
        `There is no event "${unknown.slice(0, 80)}". docs/reference/events.md lists all events.`
      )
    }
    if (this.#known.size >= limits.WEBHOOKS_MAX) {
      throw new SoukError(
        'quota_exceeded',
        `A node may have at most ${limits.WEBHOOKS_MAX} webhooks. Remove one first.`
      )
    }
    const { clock, random } = this.#init
    const id = `wh_${Buffer.from(random.fill(new Uint8Array(ID_BYTES))).toString('hex')}`
    const secrets = makeSecrets(random)
    const sealed = [{ sealed: this.#seal(id, secrets) }]
    const webhook = await this.#put({
      id,
      url,
      events: [...new Set(events)],
      allowsPrivate,
      createdAt: clock.now(),
      secrets: sealed
    })
    return { ...this.#describe(webhook), ...shownSecrets(secrets) }
  }

  /** Oldest first. */
  list(): WebhookInfo[] {
    return [...this.#known.values()].sort((a, b) => a.createdAt - b.createdAt).map((each) => this.#describe(each))
  }

  /** Gives up pending deliveries. @throws SoukError `invalid_request` */
  remove(id: string): Promise<void> {
    return this.#changes.run(id, async () => {
      this.#get(id)
      this.#known.delete(id)
      await this.#init.documents.delete(COLLECTION, id)
      await this.#deliveries.drop(id)
    })
  }

  /** Creates a new secret. For one day, deliveries carry signatures of both secrets. @throws SoukError `invalid_request` */
  rotate(id: string): Promise<WebhookInfo & ShownSecrets> {
    return this.#changes.run(id, async () => {
      const webhook = this.#get(id)
      const { clock, random } = this.#init
      const secrets = makeSecrets(random)
      const endsAt = clock.now() + limits.WEBHOOK_OVERLAP_MS
      const [last] = webhook.secrets
      const old = last === undefined ? [] : [{ ...last, endsAt }]
      const changed = await this.#put({ ...webhook, secrets: [{ sealed: this.#seal(id, secrets) }, ...old] })
      return { ...this.#describe(changed), ...shownSecrets(secrets) }
    })
  }

  /** Enables a webhook for future events. @throws SoukError `invalid_request` */
  enable(id: string): Promise<WebhookInfo> {
    return this.#changes.run(id, async () => {
      const { disabled: _, failed: __, ...webhook } = this.#get(id)
      return this.#describe(await this.#put(webhook))
    })
  }

  /** Sends a test event once, without retries. @throws SoukError `invalid_request` */
  async test(id: string, signal: AbortSignal): Promise<Outcome> {
    this.#get(id)
    return this.#send(id, this.#init.events.make('webhook.test', { webhook: id }), signal)
  }

  async #keep(event: SoukEvent): Promise<void> {
    const wanting = [...this.#known.values()].filter(
      ({ disabled, events }) => disabled === undefined && isWanted(event.type, events)
    )
    await Promise.all(wanting.map(({ id }) => this.#deliveries.add(id, event)))
  }

  async #send(id: string, event: SoukEvent, signal: AbortSignal): Promise<Outcome> {
    const webhook = this.#known.get(id)
    if (webhook === undefined) return { fate: 'gone' }
    const { clock, guard } = this.#init
    const now = clock.now()
    const payload = JSON.stringify(event)
    const good = webhook.secrets.filter(({ endsAt }) => endsAt === undefined || endsAt > now)
    const secrets = good.flatMap(({ sealed }) => this.#open(id, sealed) ?? [])
    if (secrets.length === 0) return { fate: 'failed', why: unreadable(id) }
    const headers = signedHeaders(event.id, Math.floor(now / 1000), payload, secrets)
    const { createUpstream } = await import('../../protocols/index.ts')
    const upstream = createUpstream({
      endpoint: webhook.url,
      timeoutMs: limits.WEBHOOK_TIMEOUT_MS,
      requestHeaders: headers.map(([name]) => name),
      responseHeaders: ['retry-after'],
      guard: webhookGuard(guard, webhook.allowsPrivate),
      // A redirected POST may become a GET of some page, whose 200 would count as a delivery.
      followsRedirects: false,
      shownAs: 'The webhook',
      clock
    })
    try {
      const all = [['content-type', 'application/json'] as const, ...headers]
      const response = await upstream.request({ method: 'POST', headers: all, body: utf8(payload), signal })
      response.discard()
      return outcomeOf(response)
    } catch (error) {
      return { fate: 'failed', why: asSoukError(error).message }
    } finally {
      await upstream.close()
    }
  }

  #note(delivery: Delivery, outcome: Outcome, isLast: boolean): Promise<void> {
    const { webhook, event, failures } = delivery
    const how = 'why' in outcome ? `${outcome.fate}: ${outcome.why}` : outcome.fate
    this.#log('%s (%s) to webhook %s, attempt %d: %s', event.type, event.id, webhook, failures + 1, how)
    return this.#changes.run(webhook, () => this.#noteNow(delivery, outcome, isLast))
  }

  async #noteNow({ webhook: id, firstAt }: Delivery, outcome: Outcome, isLast: boolean): Promise<void> {
    const webhook = this.#known.get(id)
    if (webhook === undefined) return
    if (outcome.fate === 'gone') return this.#disable(webhook, 'The endpoint responded with 410 Gone.')
    if (outcome.fate === 'failed') {
      const deliveredAt = webhook.deliveredAt ?? 0
      if (isLast && deliveredAt < firstAt) {
        return this.#disable(webhook, `All deliveries failed for days. The last error: ${outcome.why}`)
      }
      if (webhook.failed !== outcome.why) await this.#put({ ...webhook, failed: outcome.why })
      return
    }
    const now = this.#init.clock.now()
    // Store a repeated success at most once a minute.
    if (webhook.failed === undefined && now - (webhook.deliveredAt ?? 0) < limits.WEBHOOK_LOOK_MS) return
    const { failed: _, ...well } = webhook
    await this.#put({ ...well, deliveredAt: now })
  }

  async #disable(webhook: WebhookDocument, why: string): Promise<void> {
    if (webhook.disabled !== undefined) return
    await this.#put({ ...webhook, disabled: why })
    await this.#deliveries.drop(webhook.id)
    this.#init.log.info(`The webhook ${webhook.id} is disabled. ${why}`)
    await this.#init.events.emit('webhook.disabled', { webhook: webhook.id, why })
  }

  #get(id: string): WebhookDocument {
    const webhook = this.#known.get(id)
    if (webhook === undefined) throw new SoukError('invalid_request', `There is no webhook ${id.slice(0, 80)}.`)
    return webhook
  }

  async #put(webhook: WebhookDocument): Promise<WebhookDocument> {
    await this.#init.documents.put(COLLECTION, webhook.id, JSON.stringify(webhook))
    this.#known.set(webhook.id, webhook)
    return webhook
  }

  #describe({ secrets: sealed, ...webhook }: WebhookDocument): WebhookInfo {
    const [newest] = sealed
    const secrets = newest && this.#open(webhook.id, newest.sealed)
    const publicKey = secrets === undefined ? '' : shownSecrets(secrets).public_key
    return { ...webhook, publicKey, pending: this.#deliveries.pending(webhook.id) }
  }

  #seal(id: string, secrets: WebhookSecrets): string {
    return this.#init.secretBox.seal(JSON.stringify(secrets), `webhook ${id}`)
  }

  /** Undefined if this profile's key did not encrypt them: the key is lost, or of another backup. */
  #open(id: string, sealed: string): WebhookSecrets | undefined {
    try {
      return JSON.parse(this.#init.secretBox.open(sealed, `webhook ${id}`)) as WebhookSecrets
    } catch {
      return undefined
    }
  }
}

function unreadable(id: string): string {
  return `The key of this profile cannot decrypt the secret of this webhook. Make a new secret: souk webhook rotate-secret ${id}`
}

function outcomeOf({ status, headers }: UpstreamResponse): Outcome {
  if (status >= 200 && status < 300) return { fate: 'taken', status }
  if (status === 410) return { fate: 'gone' }
  const after = headers.find(([name]) => name === 'retry-after')?.[1] ?? ''
  const retryAfterMs = /^\d{1,6}$/.test(after) ? { retryAfterMs: Number(after) * 1000 } : {}
  return { fate: 'failed', why: `The endpoint responded with status ${status}.`, ...retryAfterMs }
}
