import { z } from 'zod'
import { amount } from './api.ts'

/** What the admin API takes and gives of a wallet that is made, taken over and kept. As in `api.ts`. */

const passphrase = z.string().min(1).max(1_000)

/** `POST /wallet` */
export const makeWalletSchema = z.strictObject({ passphrase })
export type MakeWalletInput = z.input<typeof makeWalletSchema>

/** `POST /wallet/import` */
export const importWalletSchema = z.strictObject({
  /** Another wallet's key file (keystore version 3), as text. Bare keys are taken by the command line alone. */
  key_file: z.string().max(16_384),
  /** Which it has now. */
  old_passphrase: z.string().max(1_000),
  passphrase
})
export type ImportWalletInput = z.input<typeof importWalletSchema>

/** `POST /wallet/deposits`, on the network dev */
export const playMoneySchema = z.strictObject({ amount })
export type PlayMoneyInput = z.input<typeof playMoneySchema>

/** `GET /wallet/card`: what is on disk, whether the node runs with it or not. */
export interface WalletCardView {
  /** With its checksum; null without a wallet. */
  readonly address: string | null
  readonly network: string
  readonly money: string
}

/** `GET /wallet/key-file`: encrypted, as it is on disk. */
export interface KeyFileView {
  readonly key_file: string
}
