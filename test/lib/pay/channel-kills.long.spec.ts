import { survivesKills } from './channel-kills.ts'

survivesKills('payer', 'withdraw')
