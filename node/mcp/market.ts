import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import {
  asSoukError,
  type Atoms,
  deadline,
  formatRequestId,
  formatUsdc,
  limits,
  parseApiRef,
  parseUsdc,
  requestIds,
  SoukError
} from '../../lib/index.ts'
import type {
  Clock,
  Operation,
  OperationSummary,
  Random,
  Resolution,
  SignedManifest,
  Souk
} from '../../lib/interface/index.ts'
import { descriptorOf } from '../../protocols/protocol-descriptors.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { apiDetails, apiSummary } from '../ingress/discovery/apis.ts'
import { callWithKey, type Deliver, type KeyCalls, lower } from '../ingress/calls/key-call.ts'
import type { CallDraft } from '../call-draft.ts'
import { readOptions } from '../ingress/calls/request.ts'
import type { IngressLog } from '../ingress/request-context.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { Budget, Spending } from '../spending/spending.ts'
import type { SubscriptionParts } from '../subscriptions/open.ts'
import { apiNameIn, type ApiTool, apiTools } from './api-tools.ts'
import { listedOperations } from '../describe.ts'
import { reputationView } from '../reputation-view.ts'
import { matchesPattern } from './operation-pattern.ts'
import { isMarketTool, type MarketInput, marketInput, type MarketTool, marketTools } from './market-tools.ts'
import { SubscriptionTools } from './subscription-tools.ts'
import type { Agent, OnProgress, ToolBox, ToolCall } from './agent.ts'
import { isSubscription, optionsIn, STREAMED } from './call-options.ts'
import { ListCache } from './list-cache.ts'
import { createPrompts } from './prompts.ts'
import { Resources } from './resources.ts'
import { text, toolResult, toolProblem } from './tool-result.ts'
import { type InputSchema, responseSchema } from './tool-schema.ts'

export interface MarketInit extends KeyCalls {
  readonly souk: Pick<Souk, 'call' | 'search' | 'resolve' | 'reputation' | 'descriptions'>
  readonly spending: Pick<Spending, 'begin' | 'left'>
  /** Default: no accounts. */
  readonly accounts?: Pick<Accounts, 'balance'>
  /** Default: no subscriptions. */
  readonly subscriptions?: Pick<SubscriptionParts, 'service'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Pick<IngressLog, 'error'>
}

/** The principal that an agent acts for. */
export interface Principal {
  /** Absent for the operator, who pays directly, up to `maxPrice` per call. */
  readonly holder?: KeyHolder
  readonly maxPrice?: Atoms
  /** The operator's cap for all agents without a key, per day (UTC). Default: none. */
  readonly dailyCap?: Atoms
  /** APIs whose operations become tools: names, or `name@provider`. `souk_call` reaches all others. */
  readonly apis: readonly string[]
  /** The agent named these APIs itself. */
  readonly isChosen?: boolean
  /** Only operations that match one of these patterns become tools: names with `*` for any characters. Default: all. */
  readonly operations?: readonly string[]
}

type Ids = ReturnType<typeof requestIds>

/** All that agents get on this node: tools, documents of APIs, and prompts. */
export class Market {
  readonly #init: MarketInit
  readonly #ids: Ids
  readonly #resources: Resources
  readonly #lists = new ListCache()

  constructor(init: MarketInit) {
    this.#init = init
    this.#ids = requestIds(init.clock, init.random)
    this.#resources = new Resources(init)
  }

  for(principal: Principal): Agent {
    const { holder, apis } = principal
    const resources = this.#resources.for(principal)
    return {
      tools: new PrincipalTools(this.#init, this.#ids, principal, this.#lists),
      resources,
      prompts: createPrompts(this.#init.souk, holder, apis, resources),
      onFault: (cause) => this.#init.log.error('a query of an agent failed unexpectedly', { cause })
    }
  }
}

/** The marketplace’s own tools, and one for each operation of the selected APIs. */
class PrincipalTools implements ToolBox {
  readonly #init: MarketInit
  readonly #ids: Ids
  readonly #principal: Principal
  readonly #lists: ListCache

  constructor(init: MarketInit, ids: Ids, principal: Principal, lists: ListCache) {
    this.#init = init
    this.#ids = ids
    this.#principal = principal
    this.#lists = lists
  }

  prepare(): void {
    // The list itself reports errors.
    this.#listed([]).catch(() => {})
  }

  async list(): Promise<readonly Tool[]> {
    const { isChosen = false, operations: patterns = [] } = this.#principal
    const missing: string[] = []
    const found = await this.#listed(missing)
    if (patterns.length > 0 && found.length === 0 && missing.length === 0) {
      throw new SoukError('operation_not_found', 'No operation of these APIs matches. Check "operation" in the URL.')
    }
    const shown = isChosen && missing.length > 0 ? `There is no API named ${missing.join(', ')}.` : ''
    if (shown !== '' && found.length === 0) throw new SoukError('api_not_found', `${shown} Check "api" in the URL.`)
    const market = marketTools().map((tool) =>
      shown !== '' && tool.name === 'souk_search'
        ? { ...tool, description: `${tool.description ?? ''} ${shown}` }
        : tool
    )
    return [...market, ...found]
  }

  async call(
    { name, arguments: given, meta }: ToolCall,
    signal: AbortSignal,
    onProgress?: OnProgress
  ): Promise<CallToolResult> {
    const requestId = this.#ids.next()
    const call: CallDraft = { api: '', body: undefined, requestId, signal }
    try {
      readOptions(call, optionsIn(meta))
      if (isMarketTool(name)) return await this.#run(name, given, call, onProgress)
      const tool = await this.#find(name, signal)
      if (tool === undefined) {
        throw new SoukError('operation_not_found', `There is no tool "${name.slice(0, limits.MCP_NAME_CHARS_MAX)}".`)
      }
      call.api = parseApiRef(tool.api)
      call.body = tool.body(given)
      return await this.#pay(call, await this.#promised(tool, signal), onProgress)
    } catch (thrown) {
      const error = asSoukError(thrown)
      const request_id = formatRequestId(requestId)
      if (error.code === 'internal_error') {
        this.#init.log.error('a tool failed unexpectedly', { request_id, cause: error.cause ?? error })
      }
      return toolProblem(error, request_id)
    }
  }

  #run(name: MarketTool, given: unknown, call: CallDraft, onProgress?: OnProgress): Promise<CallToolResult> {
    if (name === 'souk_search') return this.#search(marketInput(name, given), call.signal)
    if (name === 'souk_show') return this.#show(marketInput(name, given), call.signal ?? FOREVER)
    if (name === 'souk_call') return this.#callAny(marketInput(name, given), call, onProgress)
    if (name === 'souk_balance') return this.#balance()
    return this.#subscriptions(name, given, call.signal)
  }

  /**
   * The tools of all operations, as agents see them. An agent that leaves does not end it, because others may wait for the same list.
   * @param missing - receives the names that are wrong
   */
  #listed(missing: string[]): Promise<readonly Tool[]> {
    const { apis, isChosen, operations } = this.#principal
    return this.#inTime(FOREVER, async (late) => {
      const found = await this.#resolved(apis, late, missing)
      return this.#lists.get([apis, isChosen, operations], found, async () => {
        const { tools, isWhole } = await this.#toolsOf(found, apis.length, true, late)
        const shown: Tool[] = []
        for (const tool of tools.slice(0, limits.MCP_TOOLS_MAX)) shown.push(await tool.describe())
        return { tools: shown, isWhole }
      })
    })
  }

  async #inTime<T>(signal: AbortSignal, task: (late: AbortSignal) => Promise<T>): Promise<T> {
    const late = deadline(this.#init.clock, limits.MCP_LOOKUP_MS, () => new SoukError('lookup_timeout'), signal)
    try {
      return await task(late.signal)
    } finally {
      late.clear()
    }
  }

  /** Omits an API that cannot be reached. It does not delay the others. */
  async #resolved(apis: readonly string[], signal: AbortSignal, missing: string[] = []): Promise<Resolution[]> {
    const all = [...new Set(apis)].slice(0, limits.MCP_APIS_MAX)
    const found = await Promise.allSettled(all.map((api) => this.#init.souk.resolve(api, { signal })))
    for (const [at, each] of found.entries())
      if (each.status === 'rejected' && isMistaken(each.reason)) missing.push(all[at] ?? '')
    return found.flatMap((each) => (each.status === 'rejected' || isGone(each.value.signed) ? [] : each.value))
  }

  /** `isWhole` is false if the operations of an API could not be read. They are omitted. */
  async #toolsOf(apis: readonly Resolution[], share: number, hasSchemas: boolean, signal: AbortSignal) {
    const names = new Map<string, ApiTool>()
    let isWhole = true
    for (const api of apis) {
      const operations = await this.#operationsOf(api, hasSchemas, signal).catch(() => undefined)
      isWhole &&= operations !== undefined
      const isTaken = (name: string) => isMarketTool(name) || names.has(name)
      const bytesMax = schemaBytesOf((operations?.length ?? 0) * share)
      for (const tool of apiTools(api.signed, operations ?? [], isTaken, bytesMax)) names.set(tool.name, tool)
    }
    return { tools: [...names.values()], isWhole }
  }

  async #find(name: string, signal: AbortSignal): Promise<ApiTool | undefined> {
    const start = apiNameIn(name)
    if (start === undefined) return undefined
    const may = this.#principal.apis.filter((api) => api.startsWith(start))
    const { tools } = await this.#inTime(signal, async (late) =>
      this.#toolsOf(await this.#resolved(may, late), may.length, false, late)
    )
    const tool = tools.find((each) => each.name === name)
    const operation = tool?.operation
    if (tool === undefined || operation === undefined) return tool
    // The input schema says which of its names differ from the API's own.
    const api = await this.#init.souk.resolve(tool.api, { signal })
    const described = await this.#init.souk.descriptions.described(api, [operation], { signal })
    const [whole] = apiTools(api.signed, described, () => false)
    return whole === undefined ? tool : { ...whole, name: tool.name }
  }

  /** As many as become tools. An agent that names APIs gets more of each. */
  async #operationsOf(api: Resolution, hasSchemas: boolean, signal: AbortSignal): Promise<readonly Operation[]> {
    const { descriptions } = this.#init.souk
    const { isChosen = false, apis, operations: patterns = [] } = this.#principal
    const share = isChosen ? Math.floor(limits.MCP_TOOLS_MAX / Math.max(1, apis.length)) : 0
    const limit = Math.max(limits.MCP_TOOLS_PER_API_MAX, share)
    const isWhole = descriptorOf(api.signed.manifest.protocol)?.request !== undefined
    const isFiltered = patterns.length > 0 && !isWhole
    const all = await descriptions.operations(api, hasSchemas && !isFiltered ? { limit } : {}, signal)
    const isWanted = ({ name }: OperationSummary) => patterns.some((pattern) => matchesPattern(name, pattern))
    const wanted = isFiltered ? all.filter(isWanted) : all
    const names = hasSchemas ? wanted.slice(0, limit) : wanted
    if (!hasSchemas || isWhole) return names
    const bytesMax = schemaBytesOf(names.length)
    return descriptions.described(
      api,
      names.map(({ name }) => name),
      { signal, bytesMax, isInputOnly: names.length > limits.MCP_TOOLS_PER_API_MAX }
    )
  }

  /** The schema of a tool's responses, as its description promised it. */
  async #promised({ api, operation }: ApiTool, signal: AbortSignal): Promise<InputSchema | undefined> {
    if (operation === undefined) return undefined
    const { souk } = this.#init
    const found = await souk.resolve(api, { signal })
    const [described] = await souk.descriptions.described(found, [operation], { signal })
    return responseSchema(described?.output)
  }

  async #pay(call: CallDraft, promised?: InputSchema, onProgress?: OnProgress): Promise<CallToolResult> {
    const { clock } = this.#init
    // A stream would break the promise of a JSON response.
    if (isSubscription(call.body) || (onProgress !== undefined && promised === undefined)) call.headers = STREAMED
    const { holder, maxPrice } = this.#principal
    const budget = budgetOf(this.#principal)
    if (maxPrice !== undefined) call.maxPrice = lower(call.maxPrice, maxPrice)
    const startedAt = clock.elapsed()
    const deliver: Deliver<CallToolResult> = async (reply, settle) => {
      // Record the cost before returning any of the response.
      await settle()
      const { signal } = call
      return toolResult(reply, promised, clock, () => clock.elapsed() - startedAt, { signal, onProgress })
    }
    return callWithKey(this.#init, holder, call, deliver, budget)
  }

  #callAny(input: MarketInput<'souk_call'>, call: CallDraft, onProgress?: OnProgress): Promise<CallToolResult> {
    const { api, operation, arguments: given = {}, max_price, idempotency_key, timeout_ms } = input
    call.api = parseApiRef(api)
    call.body = operation === undefined ? given : { ...given, operation }
    readOptions(call, {
      'souk-max-price': max_price,
      ...(idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key }),
      ...(timeout_ms === undefined ? {} : { 'souk-timeout-ms': String(timeout_ms) })
    })
    return this.#pay(call, undefined, onProgress)
  }

  async #search(
    { query, max_price, ...rest }: MarketInput<'souk_search'>,
    signal?: AbortSignal
  ): Promise<CallToolResult> {
    const given = Object.entries({
      ...rest,
      text: query,
      maxPrice: max_price === undefined ? undefined : parseUsdc(max_price)
    })
    const page = await this.#init.souk.search(
      Object.fromEntries(given.filter(([, value]) => value !== undefined)),
      signal
    )
    const apis = page.listings.map((listing) => apiSummary(listing, this.#init.clock.now()))
    return told({ apis, next_cursor: page.next ?? null })
  }

  async #show({ api, operation }: MarketInput<'souk_show'>, signal: AbortSignal): Promise<CallToolResult> {
    const { souk, clock } = this.#init
    const found = await souk.resolve(api, { signal })
    const { signed } = found
    const shown =
      operation === undefined
        ? await listedOperations(souk, found, limits.OPERATIONS_MAX, signal)
        : await souk.descriptions.described(found, [operation], { signal, bytesMax: limits.MCP_ANSWER_BYTES_MAX / 8 })
    if (operation !== undefined && shown.length === 0) {
      throw new SoukError(
        'operation_not_found',
        `${signed.manifest.name} has no operation "${operation.slice(0, 80)}".`
      )
    }
    const { operations, ...rest } = {
      ...apiDetails(signed, shown, clock.now()),
      ...reputationView(await souk.reputation(signed.id), signed.manifest)
    }
    const whole = { ...rest, operations }
    if (JSON.stringify(whole).length <= limits.MCP_ANSWER_BYTES_MAX / 4) return told(whole)
    const { sdl, ...less } = rest
    const note = 'The description is too large to show at once. Name an operation to see its schemas.'
    const part = sdl === undefined ? {} : { sdl: sdl.slice(0, limits.MCP_ANSWER_BYTES_MAX / 8), sdl_chars: sdl.length }
    return told({
      ...less,
      ...part,
      note,
      operations: operations.map(({ name, description }) => ({ name, description }))
    })
  }

  async #subscriptions(
    name: 'souk_subscribe' | 'souk_subscriptions' | 'souk_change_subscription',
    given: unknown,
    signal?: AbortSignal
  ): Promise<CallToolResult> {
    const { subscriptions, clock } = this.#init
    if (subscriptions === undefined) throw new SoukError('ingress_not_allowed', 'This node offers no subscriptions.')
    if (this.#principal.dailyCap !== undefined && name !== 'souk_subscriptions') {
      const detail = 'Fees do not count against --daily-cap, so this agent may not change subscriptions.'
      throw new SoukError('ingress_not_allowed', `${detail} Ask your user to run souk subscribe.`)
    }
    const tools = new SubscriptionTools(subscriptions.service, this.#principal.holder, () => clock.now())
    if (name === 'souk_subscriptions') return told(await tools.list())
    if (name === 'souk_subscribe') return told(await tools.subscribe(marketInput(name, given), signal))
    return told(await tools.change(marketInput(name, given), signal))
  }

  async #balance(): Promise<CallToolResult> {
    const { spending, accounts, clock } = this.#init
    const { holder, maxPrice = limits.CALL_PRICE_ATOMS_MAX } = this.#principal
    const budget = budgetOf(this.#principal)
    if (budget === undefined) {
      return told({ paid_by: 'the node itself', currency: 'USDC', max_price: formatUsdc(maxPrice) })
    }
    const left = await spending.left(budget)
    const tomorrow = (Math.floor(clock.now() / limits.DAY_MS) + 1) * limits.DAY_MS
    const { account } = budget
    const balance = account === undefined ? undefined : await accounts?.balance(account)
    const payer = holder === undefined ? 'the node itself' : 'the operator of this node'
    return told({
      paid_by: account === undefined ? payer : 'the account of this key',
      currency: 'USDC',
      max_price: formatUsdc(holder?.maxPrice ?? maxPrice),
      daily_cap: formatUsdc(budget.dailyCap),
      left_today: formatUsdc(left),
      resets_at: new Date(tomorrow).toISOString(),
      ...(balance === undefined ? {} : { balance: formatUsdc(balance.balance) })
    })
  }
}

/** The operator's agents with a cap share one counter. */
function budgetOf({ holder, dailyCap }: Principal): Budget | undefined {
  return holder ?? (dailyCap === undefined ? undefined : { id: 'souk-mcp', dailyCap })
}

/** The name is wrong, so that a later list is no better. */
function isMistaken(reason: unknown): boolean {
  const { code } = asSoukError(reason)
  return code === 'api_not_found' || code === 'name_conflict'
}

const FOREVER = new AbortController().signal

/** Tools share the bytes of a list. */
function schemaBytesOf(tools: number): number {
  return Math.min(limits.MCP_SCHEMA_BYTES_MAX, Math.floor(limits.MCP_LIST_BYTES_MAX / Math.max(1, tools)))
}

function isGone({ manifest }: SignedManifest): boolean {
  return manifest.state === 'retired'
}

function told(value: Record<string, unknown>): CallToolResult {
  return { content: [text(JSON.stringify(value))], structuredContent: value }
}
