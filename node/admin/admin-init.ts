import type { ComponentLogger } from '@libp2p/interface'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Captures } from '../events/captures.ts'
import type { Events } from '../events/events.ts'
import type { Feed } from '../events/feed.ts'
import type { EndedCall } from '../events/watch-calls.ts'
import type { Webhooks } from '../events/webhooks.ts'
import type { Keys } from '../keys/keys.ts'
import type { Log } from '../log.ts'
import type { Money } from '../payments/money.ts'
import type { ProfileBackup } from '../profile/profile-backup.ts'
import type { Registrations } from '../registrations/registrations.ts'
import type { Spending } from '../spending/spending.ts'
import type { SubscriptionParts } from '../subscriptions/open.ts'
import type { DoctorView, StatusView } from './api.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { WalletService } from '../wallet/wallet-service.ts'

/** Components that the admin API uses. */
export interface AdminInit {
  readonly souk: Souk
  readonly registrations: Registrations
  readonly keys: Keys
  readonly accounts: Accounts
  readonly spending: Spending
  readonly events: Pick<Events, 'feed' | 'emit'>
  readonly webhooks: Webhooks
  /** Reports calls when they end. */
  readonly calls: Feed<EndedCall>
  readonly captures: Captures
  readonly walletService: WalletService
  readonly subscriptions: SubscriptionParts
  readonly clock: Clock
  /** Undefined on a node without a wallet. */
  readonly money: Money | undefined
  readonly token: string
  /** Sessions of browsers in the console. */
  readonly sessions: Sessions
  readonly log: Log
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
  /** Functions that only the composition root can provide. */
  readonly status: () => StatusView
  readonly doctor: (signal: AbortSignal) => Promise<DoctorView>
  /** Backs up the profile into a new directory. */
  readonly backUp: (directory: string) => Promise<ProfileBackup>
}
