/**
 * The day for which a daily cap counts, as days since the epoch. A clock that is set back does not reset the cap, so a later stored day
 * stays. A day that is more than one ahead was stored by a wrong clock: what was taken then counts today, and is free again tomorrow.
 */
export function cappedDay(stored: number, today: number): number {
  return stored > today + 1 ? today : Math.max(stored, today)
}
