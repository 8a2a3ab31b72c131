import { limits } from '../../lib/index.ts'

/** The warning for a provider with more APIs than other nodes show in their search. Empty below the limit. */
export function overCatalogue(own: number): string[] {
  const most = limits.CATALOGUE_PER_PUBLISHER_MAX
  if (own <= most) return []
  return [
    `Search on other nodes shows at most ${most} APIs of a provider, and you have ${own}. All can be called by name, and "souk search --provider <your id>" lists all.`
  ]
}
