/** Marks text about a command that somebody else runs on another machine. */
const ELSEWHERE = /\b(?:should|can) run\b|on both machines|on the other machine$/

/** Text whose commands name the profile, except where they are for another machine. */
export function forProfile(text: string, profile: string | undefined): string {
  if (profile === undefined || text.includes('--profile') || ELSEWHERE.test(text)) return text
  return text.replace(/\bsouk (?=[a-z])/g, `souk --profile ${profile} `)
}
