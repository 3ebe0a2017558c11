import { refuse } from '#runtime/errors'
import { packedAnswer } from '#runtime/http/packed'
import { page } from '#runtime/page'
import { modulesOf } from '../modules.ts'

export default page({
  method: 'GET',
  path: '/elements/:release/:file',
  description: "A module of the elements that a shop's pages show.",
  trust: 'Public: the same text for everybody.',
  cors: true,
  handler(system, request) {
    const { release, files } = modulesOf(system.services.wired)
    const file = files.get(request.params.file!)
    if (!file) throw refuse('not_found', 'There is no such module')
    // A page that was open while we changed asks for what was: it gets what is, and does not keep it.
    const isOurs = request.params.release === release
    const control = isOurs ? 'public, max-age=31536000, immutable' : 'no-store'
    return packedAnswer(file, request, { 'cache-control': control })
  },
})
