import { survivesKills } from './channel-kills.ts'

survivesKills('owner', 'close')
survivesKills('payer', 'close')
