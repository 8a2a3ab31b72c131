import { checkMembers, type MemberRules, NUMBER, TEXT } from '../../base/check-members.ts'
import type { SearchQuery } from '../../interface/directory.ts'

const RULES: MemberRules<SearchQuery> = {
  text: TEXT,
  protocol: TEXT,
  tag: TEXT,
  provider: TEXT,
  maxPrice: { fits: (price) => typeof price === 'bigint', what: 'atoms of USDC as a bigint, such as 1000n' },
  minQuality: NUMBER,
  sort: TEXT,
  limit: NUMBER,
  cursor: TEXT
}

/** Types of the members. The catalogue checks their ranges. @throws SoukError `invalid_request` */
export function checkSearch(query: SearchQuery): void {
  checkMembers('A search', query, RULES)
}
