import { type Environment, type locateProfile, settingNames } from '../../config.ts'
import { didYouMeanText, similarTo } from '../terminal/similar.ts'

/** Variables of a mistyped name differ little in length. Others of this prefix belong to other programs. */
const LENGTH_DIFFERENCE_MAX = 2

/** A line for each name in `profile.json` and in the environment that is no setting, and so has no effect. */
export async function unknownSettings(profile: ReturnType<typeof locateProfile>, env: Environment): Promise<string[]> {
  const { saved, names, variables } = await settingNames(profile)
  return [
    ...saved
      .filter((name) => !names.includes(name))
      .map((name) => line(`profile.json: "${name.slice(0, 80)}" is not a setting`, similarTo(name, names))),
    ...Object.keys(env).flatMap((name) => {
      const meant = mistyped(name, [...variables, 'SOUK_HOME', 'SOUK_PROFILE'])
      return meant.length === 0 ? [] : [line(`${name} in the environment is not a setting`, meant)]
    })
  ]
}

function mistyped(name: string, variables: readonly string[]): string[] {
  if (!name.startsWith('SOUK_') || variables.includes(name)) return []
  return similarTo(name, variables).filter(
    (variable) => Math.abs(variable.length - name.length) <= LENGTH_DIFFERENCE_MAX
  )
}

function line(what: string, meant: readonly string[]): string {
  return `warning: ${what}, so it has no effect.${meant.length === 0 ? '' : ` ${didYouMeanText(meant.slice(0, 1))}`}`
}
