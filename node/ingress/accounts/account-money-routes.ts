import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formatUsdc, limits, parseUsdc, SoukError } from '../../../lib/index.ts'
import type { AccountDeposits } from '../../accounts/account-deposits.ts'
import type { AccountWithdrawal, AccountWithdrawals } from '../../accounts/account-withdrawals.ts'
import { usdc } from '../../http/schemas.ts'
import type { RequestParts } from '../account-request.ts'
import { IDEMPOTENCY_HEADER, PAYMENT_HEADER } from '../parameters.ts'
import { isPayment, paymentResponse } from '../calls/payment-headers.ts'
import { routesWith } from '../route.ts'
import { withdrawalSchema } from '../views.ts'

export interface AccountMoneyContext extends RequestParts {
  readonly deposits: Pick<AccountDeposits, 'deposit'>
  readonly withdrawals: Pick<AccountWithdrawals, 'quote' | 'withdraw' | 'get'>
}

const route = routesWith<AccountMoneyContext>()
const asked = usdc.describe('Decimal USDC.')
/** The response to a dry run. */
const quoteSchema = z.object({ amount: usdc, fee: usdc, receives: usdc, to: z.string() })

/** Routes for deposits into an account, and for withdrawals back to the depositing addresses. */
export const accountMoneyRoutes = [
  route({
    method: 'POST',
    path: '/v1/account/deposits',
    summary: 'Deposits by x402. The first request gets a 402 with the payment terms; repeat it with the payment.',
    auth: 'account',
    headers: PAYMENT_HEADER,
    body: z.strictObject({ amount: asked }),
    response: z.object({ amount: usdc, balance: usdc }),
    async handler({ accounts, deposits }, { caller: { account }, body, request, reply }) {
      const { amount, response } = await deposits.deposit(account.id, parseUsdc(body.amount), paymentOf(request))
      const [name, value] = paymentResponse(response)
      if (name !== undefined) reply.header(name, value)
      const { balance } = await accounts.balance(account.id)
      return { amount: formatUsdc(amount), balance: formatUsdc(balance) }
    }
  }),
  route({
    method: 'POST',
    path: '/v1/account/withdrawals',
    summary:
      'Withdraws to the depositing addresses. One a day is free; otherwise a fee of at most `max_fee` is deducted. `dry_run` only shows the fee.',
    auth: 'manager',
    headers: IDEMPOTENCY_HEADER,
    body: z.strictObject({ amount: asked, max_fee: asked.optional(), dry_run: z.boolean().optional() }),
    response: withdrawalSchema,
    status: 202,
    otherResponses: { 200: quoteSchema },
    async handler({ withdrawals }, { caller: { account }, body, request, reply }) {
      const amount = parseUsdc(body.amount)
      const feeMax = parseUsdc(body.max_fee ?? '0')
      if (body.dry_run === true) {
        const { to, fee } = await withdrawals.quote(account, amount)
        const quote = { amount: formatUsdc(amount), fee: formatUsdc(fee), receives: formatUsdc(amount - fee), to }
        return reply.code(200).send(quote satisfies z.output<typeof quoteSchema>)
      }
      return view(await withdrawals.withdraw(account, { amount, feeMax, idempotencyKey: idempotencyKeyOf(request) }))
    }
  }),
  route({
    method: 'GET',
    path: '/v1/account/withdrawals/:id',
    summary: 'Status of a withdrawal.',
    auth: 'manager',
    response: withdrawalSchema,
    async handler({ withdrawals }, { caller, params }) {
      return view(await withdrawals.get(caller.account.id, params.id))
    }
  })
] as const

/** @throws SoukError `payment_malformed` */
function paymentOf({ headers }: FastifyRequest): string | undefined {
  const payment = headers['payment-signature']
  if (payment === undefined || isPayment(payment)) return payment
  const detail = `PAYMENT-SIGNATURE must be base64 of at most ${limits.PAYMENT_CHARS_MAX} characters.`
  throw new SoukError('payment_malformed', detail)
}

/** @throws SoukError `invalid_request` */
function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length > 0 && key.length <= limits.IDEMPOTENCY_KEY_CHARS_MAX) return key
  throw new SoukError(
    'invalid_request',
    `An Idempotency-Key may have at most ${limits.IDEMPOTENCY_KEY_CHARS_MAX} characters.`
  )
}

function view({ id, state, amount, fee = '0', to, at, transaction }: AccountWithdrawal) {
  const receives = formatUsdc(parseUsdc(amount) - parseUsdc(fee))
  return { id, state, amount, fee, receives, to, at: new Date(at).toISOString(), transaction: transaction ?? null }
}
