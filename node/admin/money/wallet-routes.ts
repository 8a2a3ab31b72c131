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

/** A wallet on disk: made, taken over, kept. */
export const walletRoutes = [
  route({
    method: 'GET',
    path: '/wallet/card',
    summary: 'The wallet on disk, whether the node runs with it or not.',
    response: walletCardViewSchema,
    handler: ({ walletService }) => asked(walletService.card())
  }),
  route({
    method: 'POST',
    path: '/wallet',
    summary: 'Makes a wallet where there is none; the node runs with it from its next start.',
    body: makeWalletSchema,
    response: walletCardViewSchema,
    status: 201,
    handler: ({ walletService }, { body }) => asked(walletService.make(body.passphrase))
  }),
  route({
    method: 'POST',
    path: '/wallet/import',
    summary: 'Takes over the key in another wallet’s key file, likewise.',
    body: importWalletSchema,
    response: walletCardViewSchema,
    status: 201,
    handler: ({ walletService }, { body: { key_file, old_passphrase, passphrase } }) =>
      asked(walletService.takeOver(key_file, old_passphrase, passphrase))
  }),
  route({
    method: 'GET',
    path: '/wallet/key-file',
    summary: 'The key file, encrypted as it is, to be kept elsewhere.',
    response: keyFileViewSchema,
    handler: async ({ walletService }) => ({ key_file: await asked(walletService.keyFile()) })
  }),
  route({
    method: 'POST',
    path: '/wallet/deposits',
    summary: 'On the network dev: play USDC, and play ETH for gas.',
    body: playMoneySchema,
    response: walletCardViewSchema,
    async handler({ walletService }, { body }) {
      await asked(walletService.give(body.amount))
      return walletService.card()
    }
  })
] as const

/** What a setup refuses is for whoever sits there: it says what to do about it. */
async function asked<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof SetupError) throw new SoukError('invalid_request', error.message, { cause: error })
    throw error
  }
}
