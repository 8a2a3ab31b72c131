import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formatUsdc, limits, parseUsdc, SoukError } from '../../lib/index.ts'
import type { AccountDeposits } from '../accounts/account-deposits.ts'
import type { AccountWithdrawal, AccountWithdrawals } from '../accounts/account-withdrawals.ts'
import { accountOf, type AccountRoutesInit, managedAccountOf, readBody } from './account-routes.ts'
import { isPayment, paymentResponse } from './payment-headers.ts'

export interface AccountMoneyInit extends Pick<AccountRoutesInit, 'accounts' | 'keys' | 'bodies'> {
  readonly deposits: Pick<AccountDeposits, 'deposit'>
  readonly withdrawals: Pick<AccountWithdrawals, 'quote' | 'withdraw' | 'get'>
}

const amountSchema = z.strictObject({ amount: z.string() })
const withdrawalSchema = z.strictObject({
  amount: z.string(),
  max_fee: z.string().optional(),
  dry_run: z.boolean().optional()
})

/**
 * `POST /v1/account/deposits {amount}`: 402 with what an x402 client needs to pay so much in, then the same with its payment.
 * `POST /v1/account/withdrawals {amount, max_fee}`: back to where it came from; 202, and `GET …/{id}` tells what became of it.
 * With `dry_run` it only says what that costs.
 */
export function addAccountMoneyRoutes(app: FastifyInstance, init: AccountMoneyInit): void {
  const { accounts, deposits, withdrawals } = init

  app.post('/v1/account/deposits', async (request, reply) => {
    const [{ id }] = await accountOf(init, request)
    const { amount: asked } = await readBody(init, request, amountSchema)
    const { amount, response } = await deposits.deposit(id, parseUsdc(asked), paymentOf(request))
    const [name, value] = paymentResponse(response)
    if (name !== undefined) reply.header(name, value)
    const { balance } = await accounts.balance(id)
    return { amount: formatUsdc(amount), balance: formatUsdc(balance) }
  })

  app.post('/v1/account/withdrawals', async (request, reply) => {
    const [account] = await managedAccountOf(init, request)
    const body = await readBody(init, request, withdrawalSchema)
    const amount = parseUsdc(body.amount)
    const feeMax = parseUsdc(body.max_fee ?? '0')
    if (body.dry_run === true) {
      const { to, fee } = await withdrawals.quote(account, amount)
      return { amount: formatUsdc(amount), fee: formatUsdc(fee), receives: formatUsdc(amount - fee), to }
    }
    reply.code(202)
    return view(await withdrawals.withdraw(account, { amount, feeMax, idempotencyKey: idempotencyKeyOf(request) }))
  })

  app.get<{ Params: { id: string } }>('/v1/account/withdrawals/:id', async (request) => {
    const [{ id }] = await managedAccountOf(init, request)
    return view(await withdrawals.get(id, request.params.id))
  })
}

/** @throws SoukError `payment_malformed` */
function paymentOf({ headers }: FastifyRequest): string | undefined {
  const payment = headers['payment-signature']
  if (payment === undefined || isPayment(payment)) return payment
  const detail = `PAYMENT-SIGNATURE is base64 of at most ${limits.PAYMENT_CHARS_MAX} characters.`
  throw new SoukError('payment_malformed', detail)
}

/** @throws SoukError `invalid_request` */
function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length > 0 && key.length <= limits.IDEMPOTENCY_KEY_CHARS_MAX) return key
  throw new SoukError('invalid_request', `An Idempotency-Key has up to ${limits.IDEMPOTENCY_KEY_CHARS_MAX} characters.`)
}

function view({ id, state, amount, fee = '0', to, at, transaction }: AccountWithdrawal) {
  const receives = formatUsdc(parseUsdc(amount) - parseUsdc(fee))
  return { id, state, amount, fee, receives, to, at: new Date(at).toISOString(), transaction: transaction ?? null }
}
