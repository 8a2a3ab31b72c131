import process from 'node:process'
import { story } from './story.ts'

const [, , ingress = '', key = ''] = process.argv
console.log(JSON.stringify(await story(ingress, key)))
