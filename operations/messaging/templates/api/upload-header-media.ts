import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { headerPurpose } from '../header-media.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates/header-media',
  description: 'Get a link to upload a picture or a video for the header of a template.',
  details:
    'JPEG and PNG to 5 MiB, MP4 and 3GPP to 16 MiB. A file that no template uses is deleted after 24 hours.',
  words: 'picture or video on top of a template',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  ...files.uploadOperation(headerPurpose),
  example: { body: { fileName: 'black-friday.png', contentType: 'image/png', size: 348_160 } },
})
