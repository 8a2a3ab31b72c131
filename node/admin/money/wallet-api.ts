import { z } from 'zod'
import { amountAbove0, view } from '../../http/schemas.ts'

/** Inputs and responses of the wallet routes. */

const passphrase = z.string().min(1).max(1_000)

export const makeWalletSchema = z.strictObject({ passphrase })
export type MakeWalletInput = z.input<typeof makeWalletSchema>

export const importWalletSchema = z.strictObject({
  key_file: z
    .string()
    .max(16_384)
    .describe(
      "Text of another wallet's key file (keystore version 3). Only the command line imports unencrypted keys."
    ),
  old_passphrase: z.string().max(1_000).describe('Current passphrase of the key file.'),
  passphrase
})
export type ImportWalletInput = z.input<typeof importWalletSchema>

/** `POST /wallet/deposits`, on the network dev */
export const playMoneySchema = z.strictObject({ amount: amountAbove0 })
export type PlayMoneyInput = z.input<typeof playMoneySchema>

export const walletCardViewSchema = view(
  'WalletCardView',
  {
    address: z.string().nullable().describe('With checksum; null without a wallet.'),
    network: z.string(),
    money: z.string()
  },
  'The wallet on disk. The running node may not use it yet.'
)
export type WalletCardView = z.output<typeof walletCardViewSchema>

export const keyFileViewSchema = view(
  'KeyFileView',
  {
    key_file: z.string()
  },
  'The encrypted key file.'
)
