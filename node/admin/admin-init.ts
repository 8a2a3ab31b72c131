import type { ComponentLogger } from '@libp2p/interface'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Captures } from '../events/captures.ts'
import type { Events } from '../events/events.ts'
import type { Feed } from '../events/feed.ts'
import type { CallLine } from '../events/watch-calls.ts'
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

/** What the admin API shows and steers. */
export interface AdminInit {
  readonly souk: Souk
  readonly registrations: Registrations
  readonly keys: Keys
  readonly accounts: Accounts
  readonly spending: Spending
  readonly events: Pick<Events, 'feed' | 'emit'>
  readonly webhooks: Webhooks
  /** As they end. */
  readonly calls: Feed<CallLine>
  readonly captures: Captures
  readonly walletService: WalletService
  readonly subscriptions: SubscriptionParts
  readonly clock: Clock
  /** Undefined where this node moves no money. */
  readonly money: Money | undefined
  readonly token: string
  /** Of browsers that use the console. */
  readonly sessions: Sessions
  readonly log: Log
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
  /** What only the composition root knows. */
  readonly status: () => StatusView
  readonly doctor: (signal: AbortSignal) => Promise<DoctorView>
  /** Into a new directory. */
  readonly backUp: (directory: string) => Promise<ProfileBackup>
}
