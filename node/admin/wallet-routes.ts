import type { FastifyInstance } from 'fastify'
import { SoukError } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import type { AdminInit } from './admin-init.ts'
import { parse } from './problems.ts'
import {
  importWalletSchema,
  type KeyFileView,
  makeWalletSchema,
  playMoneySchema,
  type WalletCardView
} from './wallet-api.ts'

export function walletRoutes(app: FastifyInstance, { walletDesk }: AdminInit): void {
  app.get('/wallet/card', (): Promise<WalletCardView> => asked(walletDesk.card()))

  app.post('/wallet', async (request, reply): Promise<WalletCardView> => {
    const { passphrase } = parse(makeWalletSchema, request.body)
    const card = await asked(walletDesk.make(passphrase))
    reply.code(201)
    return card
  })

  app.post('/wallet/import', async (request, reply): Promise<WalletCardView> => {
    const { key_file, old_passphrase, passphrase } = parse(importWalletSchema, request.body)
    const card = await asked(walletDesk.takeOver(key_file, old_passphrase, passphrase))
    reply.code(201)
    return card
  })

  app.get('/wallet/key-file', async (): Promise<KeyFileView> => ({ key_file: await asked(walletDesk.keyFile()) }))

  app.post('/wallet/deposits', async (request): Promise<WalletCardView> => {
    await asked(walletDesk.give(parse(playMoneySchema, request.body).amount))
    return walletDesk.card()
  })
}

/** What a setup refuses is for whoever sits there: it says what to do about it. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof SetupError) throw new SoukError('invalid_request', error.message, { cause: error })
    throw error
  }
}
