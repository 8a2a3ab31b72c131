import type { IncomingMessage, ServerResponse } from 'node:http'
import { XMLParser } from 'fast-xml-parser'
import { ACCOUNT_NAMESPACE, accountWsdl } from './account-wsdl.ts'
import { bodyText, type DemoOptions, type DemoServer, runAlone, serveDemo } from './demo-server.ts'

const ENVELOPE = 'http://schemas.xmlsoap.org/soap/envelope/'
const DAY_MS = 86_400_000
const TRANSACTIONS_MAX = 20
const CURRENCIES = ['USD', 'EUR', 'CHF'] as const
const DESCRIPTIONS = ['Card payment', 'Salary', 'Rent & utilities', 'Refund', 'Cash'] as const

/** The parameters in the request’s wrapper element; `undefined` for a missing element. */
type Parameters = Readonly<Record<string, string | undefined>>

/** A fault. Its code says which side caused it (SOAP 1.1, section 4.4.1). */
class Fault extends Error {
  readonly code: 'Client' | 'Server'
  /** XML content of `detail`. */
  readonly detail: string

  constructor(code: Fault['code'], message: string, detail = '') {
    super(message)
    this.code = code
    this.detail = detail
  }
}

const OPERATIONS: Readonly<Record<string, (parameters: Parameters) => string>> = {
  getBalance(parameters) {
    const account = accountOf(parameters)
    const fields = [
      tag('accountId', account.id),
      tag('balance', money(account.cents)),
      tag('currency', account.currency),
      tag('asOf', new Date().toISOString())
    ]
    return `<a:getBalanceResponse>${fields.join('')}</a:getBalanceResponse>`
  },

  getTransactions(parameters) {
    const account = accountOf(parameters)
    const limit = parameters.limit?.trim() ?? '5'
    if (!/^[1-9]\d?$/.test(limit) || Number(limit) > TRANSACTIONS_MAX) {
      throw new Fault('Client', `limit must be 1 to ${TRANSACTIONS_MAX}.`)
    }
    const transactions = Array.from({ length: Number(limit) }, (_, index) => transaction(account.number, index))
    return `<a:getTransactionsResponse>${tag('accountId', account.id)}${transactions.join('')}</a:getTransactionsResponse>`
  }
}

/**
 * The demo’s SOAP service: balances and transactions of fictional accounts, `ACC-1000` to `ACC-1999`. SOAP 1.1, document/literal wrapped.
 * The service returns its WSDL at its URL, which ends with `?wsdl`.
 */
export async function startAccount(options: DemoOptions = {}): Promise<DemoServer> {
  const server = await serveDemo(
    '/account',
    async (request, response, url) => {
      if (request.method === 'POST') return answer(request, response)
      const isWsdl = request.method === 'GET' && url.search.toLowerCase() === '?wsdl'
      if (isWsdl) return sendXml(response, 200, accountWsdl(addressOf(request)))
      return sendXml(response, 405, envelope(faultXml(new Fault('Client', 'POST an envelope, or GET ?wsdl.'))))
    },
    options
  )
  return { ...server, url: `${server.url}?wsdl` }
}

/** The address at which this request reached the service. */
function addressOf({ socket }: IncomingMessage): string {
  const host = socket.localFamily === 'IPv6' ? `[${socket.localAddress}]` : socket.localAddress
  return `http://${host}:${socket.localPort}/account`
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { operation, parameters } = read((await bodyText(request)) ?? '')
    const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined
    if (run === undefined) throw new Fault('Client', 'There is no such operation.')
    sendXml(response, 200, envelope(run(parameters)))
  } catch (error) {
    const fault = error instanceof Fault ? error : new Fault('Server', 'The demo failed.')
    sendXml(response, 500, envelope(faultXml(fault)))
  }
}

/** The first element of the body names the operation (WS-I Basic Profile 1.1, R2712). */
function read(text: string): { operation: string; parameters: Parameters } {
  const body = child(child(parsed(text), 'Envelope'), 'Body')
  const [operation] = Object.keys(isRecord(body) ? body : {})
  if (operation === undefined) throw new Fault('Client', 'The body of the envelope is empty.')
  const content = child(body, operation)
  const entries = Object.entries(isRecord(content) ? content : {})
  const texts = entries.map(([name, value]) => [name, typeof value === 'string' ? value : undefined])
  return { operation, parameters: Object.fromEntries(texts) as Parameters }
}

function parsed(text: string): unknown {
  if (text.includes('<!DOCTYPE')) throw new Fault('Client', 'A document type declaration is not allowed.')
  const parser = new XMLParser({
    removeNSPrefix: true,
    ignoreDeclaration: true,
    parseTagValue: false,
    trimValues: false,
    // oxlint-disable-next-line typescript/no-deprecated -- without it, numeric references stay as they are
    htmlEntities: true
  })
  try {
    // oxlint-disable-next-line typescript/no-deprecated -- validation moves to a package of its own, with the same code
    return parser.parse(text, true) as unknown
  } catch {
    throw new Fault('Client', 'The request is not well-formed XML.')
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Returns a child element. The parser yields whitespace between tags as text, which this ignores. */
function child(parent: unknown, name: string): unknown {
  const value = isRecord(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '#text'))
}

interface Account {
  readonly id: string
  readonly number: number
  readonly cents: bigint
  readonly currency: string
}

function accountOf({ accountId }: Parameters): Account {
  const id = accountId?.trim() ?? ''
  const number = Number(/^ACC-(?<number>1\d{3})$/.exec(id)?.groups?.number ?? 'NaN')
  if (Number.isNaN(number)) {
    const detail = `<a:AccountNotFound>${tag('accountId', id)}${tag('hint', 'ACC-1000 to ACC-1999 exist.')}</a:AccountNotFound>`
    throw new Fault('Client', 'The account does not exist.', detail)
  }
  return { id, number, cents: BigInt((number * 7_919) % 1_000_003), currency: CURRENCIES[number % 3] ?? 'USD' }
}

function transaction(account: number, index: number): string {
  const number = (account * 31 + index * 17) % 5
  const cents = BigInt(((account + index) * 104_729) % 90_001) - 45_000n
  const day = new Date(Date.UTC(2026, 0, 1) - index * DAY_MS).toISOString().slice(0, 10)
  const fields = [
    tag('id', String(account * 1_000_000_000_000 + index)),
    tag('bookedOn', day),
    tag('amount', money(cents)),
    tag('description', DESCRIPTIONS[number] ?? '')
  ]
  return `<a:transaction>${fields.join('')}</a:transaction>`
}

function money(cents: bigint): string {
  const digits = (cents < 0n ? -cents : cents).toString().padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function tag(name: string, text: string): string {
  return `<a:${name}>${escaped(text)}</a:${name}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function envelope(body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<soap:Envelope xmlns:soap="${ENVELOPE}" xmlns:a="${ACCOUNT_NAMESPACE}"><soap:Body>${body}</soap:Body></soap:Envelope>`
}

function faultXml({ code, message, detail }: Fault): string {
  const inner = detail === '' ? '' : `<detail>${detail}</detail>`
  return `<soap:Fault><faultcode>soap:${code}</faultcode><faultstring>${escaped(message)}</faultstring>${inner}</soap:Fault>`
}

function sendXml(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(text)
  const headers = { 'content-type': 'text/xml; charset=utf-8', 'content-length': bytes.byteLength }
  response.writeHead(status, headers).end(bytes)
}

if (import.meta.main) await runAlone(startAccount)
