import { SoukError } from '../../../lib/index.ts'
import { SetupError } from '../../setup-error.ts'
import { route } from '../route.ts'
import {
  importWalletSchema,
  keyFileViewSchema,
  makeWalletSchema,
  playMoneySchema,
  walletCardViewSchema
} from './wallet-api.ts'

/** Routes to create, import and export the wallet on disk. */
export const walletRoutes = [
  route({
    method: 'GET',
    path: '/wallet/card',
    summary: 'The wallet on disk. The running node may not use it yet.',
    response: walletCardViewSchema,
    handler: ({ walletService }) => asked(walletService.card())
  }),
  route({
    method: 'POST',
    path: '/wallet',
    summary: 'Creates a wallet if none exists. The node uses it from its next start.',
    body: makeWalletSchema,
    response: walletCardViewSchema,
    status: 201,
    handler: ({ walletService }, { body }) => asked(walletService.make(body.passphrase))
  }),
  route({
    method: 'POST',
    path: '/wallet/import',
    summary: 'Imports the key of another wallet’s key file. The node uses it from its next start.',
    body: importWalletSchema,
    response: walletCardViewSchema,
    status: 201,
    handler: ({ walletService }, { body: { key_file, old_passphrase, passphrase } }) =>
      asked(walletService.takeOver(key_file, old_passphrase, passphrase))
  }),
  route({
    method: 'GET',
    path: '/wallet/key-file',
    summary: 'The encrypted key file, for a backup.',
    response: keyFileViewSchema,
    handler: async ({ walletService }) => ({ key_file: await asked(walletService.keyFile()) })
  }),
  route({
    method: 'POST',
    path: '/wallet/deposits',
    summary: 'On the network dev: adds play USDC, and play ETH for gas.',
    body: playMoneySchema,
    response: walletCardViewSchema,
    async handler({ walletService }, { body }) {
      await asked(walletService.give(body.amount))
      return walletService.card()
    }
  })
] as const

/** The text of a `SetupError` tells the operator what to do, so the response shows it. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof SetupError) throw new SoukError('invalid_request', error.message, { cause: error })
    throw error
  }
}
