import { page } from '#runtime/page'
import { limit } from '../../limits.ts'
import { readAsked } from '../asked.ts'
import { keyForm, localeOf } from '../forms.ts'
import { answeringPeople } from '../own-form.ts'

export default page({
  method: 'GET',
  path: '/oauth/authorize',
  description: 'Asks a merchant, whom an assistant sent, for the key of their store.',
  trust:
    'It shows who asks and changes nothing; answers go to addresses alone that the client gave beforehand.',
  handler: answeringPeople(async (ctx, request) => {
    await limit(ctx, 'authorize', request.ip)
    const asked = await readAsked(ctx, request.parameters())
    return keyForm(ctx, asked, localeOf(request))
  }),
})
