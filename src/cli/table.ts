// Every command without its function. Generated from src/cli; do not edit: npm run generate
import type { CommandEntry } from './command.ts'

export const table: readonly CommandEntry[] = [
  {
    "file": "start",
    "noun": "start",
    "options": [
      {
        "name": "only",
        "value": "PART",
        "choices": [
          "http",
          "engine"
        ],
        "sentence": "Run only one part in this process: the HTTP interface or the delivery engine."
      }
    ],
    "sentence": "Run the service until Ctrl-C or SIGTERM.",
    "more": "Starts the embedded database, unless DATABASE_URL is set, and migrates it. On an empty embedded database it creates a sample service and shows how to call it; its team and live keys are created and shown only on a terminal. The last lines name the provider of each channel and the address of the console. On the embedded database and on a terminal they have a link that signs the first operator in; elsewhere, as in a journal, they name the command that prints one. With --json stdout has one line, {\"address\": …, \"providers\": …, \"console\": …}, and before it {\"sample\": …} if a sample was created; the log goes to stderr.",
    "examples": [
      "herald start",
      "HERALD_PORT=8080 herald start --only http"
    ]
  },
  {
    "file": "start",
    "noun": "migrate",
    "sentence": "Migrate the database to this version; herald start does it too."
  },
  {
    "file": "doctor",
    "noun": "doctor",
    "sentence": "Check this machine, the settings, the database, the queue, the providers and the service for problems.",
    "more": "Each problem comes with a remedy. Exit code 1 if there is a problem. Nothing is sent: doctor connects to every provider and logs in (SMPP: one bind); in an S3 file store it writes and removes one small object. A DNS query without an answer is reported as such."
  },
  {
    "file": "backup",
    "noun": "backup",
    "args": [
      {
        "name": "FOLDER",
        "sentence": "Destination: a folder that does not exist yet."
      }
    ],
    "options": [
      {
        "name": "keep",
        "value": "COUNT",
        "number": true,
        "sentence": "Afterwards remove all but the newest COUNT backups of this database from the parent folder, the new one included."
      }
    ],
    "sentence": "Copy the embedded database to a folder. The service may run meanwhile.",
    "more": "The backup contains everything that was answered with 2xx before it began. It does not contain the sealing secret, without which it cannot be read: keep a copy of the secret in another place. For an external PostgreSQL see docs/running.md.",
    "examples": [
      "herald backup /backups/herald-monday",
      "herald backup --keep 7 \"/backups/$(date +%F)\""
    ]
  },
  {
    "file": "restore",
    "noun": "restore",
    "args": [
      {
        "name": "FOLDER",
        "sentence": "A backup of herald backup."
      }
    ],
    "sentence": "Create the embedded database from a backup, in a data folder without a database.",
    "more": "Put the old sealing secret in place first: the file `secret` in the data folder, or HERALD_SECRET. Sending is held in the restored copy: it accepts messages and sends nothing until herald release.",
    "examples": [
      "HERALD_DATA=/var/lib/herald herald restore /backups/herald-monday"
    ]
  },
  {
    "file": "upgrade-database",
    "noun": "upgrade-database",
    "args": [
      {
        "name": "PROGRAMS",
        "sentence": "A folder with bin/postgres of the version that made the database."
      }
    ],
    "sentence": "Move the embedded database to the PostgreSQL version that this Herald includes.",
    "more": "Stop Herald first. Every table is copied into a new database and compared. The old one is kept beside it until you remove it, so the disk needs room for both. The version that made the database is in the file postgres/data/PG_VERSION of the data folder; docs/releases.md says where to get its programs.",
    "examples": [
      "herald upgrade-database /usr/lib/postgresql/18"
    ]
  },
  {
    "file": "hold",
    "noun": "hold",
    "options": [
      {
        "name": "restored",
        "sentence": "This database is a copy, and it is not known what its original has sent since."
      }
    ],
    "sentence": "Hold sending: messages are still accepted, but nothing is sent until herald release.",
    "more": "Every running process stops within a second: what it has loaded goes back to the queue, and only messages that a provider is already receiving are finished. Use it before the first start of a database that was copied by other means than herald restore."
  },
  {
    "file": "hold",
    "noun": "held",
    "sentence": "Show whether sending is held, and the messages that herald release has kept back."
  },
  {
    "file": "hold",
    "noun": "release",
    "options": [
      {
        "name": "cut-off",
        "value": "TIME",
        "sentence": "When the original stopped sending, for example 2026-06-15T12:30:00Z, or `now`. Messages that were due before, or that were tried, are kept back."
      },
      {
        "name": "id",
        "value": "ID",
        "many": true,
        "sentence": "Release this message, one of those kept back."
      },
      {
        "name": "all",
        "sentence": "Release everything, whatever the original may have sent."
      }
    ],
    "sentence": "Resume sending after herald hold: messages after a cut-off, chosen messages, or everything.",
    "more": "A message that is kept back is not sent until it is released by --id. It ends as technical-failure 72 hours after it was due.",
    "examples": [
      "herald release --cut-off 2026-06-15T12:30:00Z",
      "herald release --id 0197…",
      "herald release --all"
    ]
  },
  {
    "file": "provider",
    "noun": "provider",
    "verb": "list",
    "sentence": "List the providers of the settings, with their state in the running processes.",
    "more": "The state is that of the circuit breaker: closed (in use), open (down), half-open (one probe is sent). Without a running engine it is not known. herald doctor connects to each."
  },
  {
    "file": "provider",
    "noun": "provider",
    "verb": "test",
    "args": [
      {
        "name": "NAME",
        "sentence": "Name of the provider, as herald doctor shows it."
      }
    ],
    "options": [
      {
        "name": "to",
        "value": "RECIPIENT",
        "required": true,
        "sentence": "E-mail address or phone number of the recipient."
      }
    ],
    "sentence": "Send one test message by a provider, and show its answer.",
    "more": "A running process with an engine sends it, by this provider only, also while its circuit breaker is open. Nothing is sent while sending is held. The test is recorded in the audit log, without the recipient. Exit code 1 if the provider does not accept it.",
    "examples": [
      "herald provider test smtp --to duty@example.org"
    ]
  },
  {
    "file": "file-store",
    "noun": "file-store",
    "verb": "adopt",
    "sentence": "Declare that the contents of files are now in the store that the settings name.",
    "more": "Every start compares its file store with that of the other machines, and refuses to run with another one. Use this command after the contents were moved: to another bucket, or when HERALD_FILE_STORE is changed. It moves nothing; contents that are not in the new store are lost to their messages. Processes that run keep their store until they are restarted.",
    "examples": [
      "HERALD_S3_BUCKET=herald-files-2 herald file-store adopt"
    ]
  },
  {
    "file": "sample",
    "noun": "sample",
    "options": [
      {
        "name": "show-keys",
        "sentence": "Also create and show the team key and the live key. On a terminal they are always created."
      }
    ],
    "sentence": "Create another sample service with keys, templates and a command to try it.",
    "more": "The first start on an empty embedded database creates one. On an external database only this command does."
  },
  {
    "file": "service",
    "noun": "service",
    "verb": "create",
    "args": [
      {
        "name": "NAME",
        "sentence": "Name of the service. Text messages begin with it."
      }
    ],
    "options": [
      {
        "name": "live",
        "sentence": "Create it in live mode. Default: trial mode, in which it sends only to its team and safelist."
      },
      {
        "name": "mailbox",
        "value": "MAILBOX",
        "sentence": "Local part (before the @) of the sender address of e-mails. Default: derived from the name."
      }
    ],
    "sentence": "Create a service.",
    "examples": [
      "herald service create \"Parking permits\" --live --mailbox permits"
    ]
  },
  {
    "file": "service",
    "noun": "service",
    "verb": "list",
    "sentence": "List all services."
  },
  {
    "file": "service",
    "noun": "service",
    "verb": "show",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "Show a service with its limits and permissions."
  },
  {
    "file": "service",
    "noun": "service",
    "verb": "set",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "sentence": "A new name."
      },
      {
        "name": "mode",
        "value": "MODE",
        "choices": [
          "trial",
          "live"
        ],
        "sentence": "In trial mode a service sends only to its team and safelist."
      },
      {
        "name": "state",
        "value": "STATE",
        "choices": [
          "active",
          "suspended",
          "archived"
        ],
        "sentence": "A suspended service can read but not send; keys of an archived service are refused. In both states messages that become due end as technical-failure and scheduled jobs as cancelled."
      },
      {
        "name": "reason",
        "value": "TEXT",
        "sentence": "Why it is suspended. Its team sees it in the console."
      },
      {
        "name": "allow",
        "value": "WHAT",
        "many": true,
        "sentence": "Allow it to send email, sms, international, files. Separate several with commas."
      },
      {
        "name": "forbid",
        "value": "WHAT",
        "many": true,
        "sentence": "Forbid the same."
      },
      {
        "name": "email-daily-limit",
        "value": "N",
        "number": true,
        "orDefault": true,
        "sentence": "E-mails a day (UTC). `default`: the default of the mode."
      },
      {
        "name": "sms-daily-limit",
        "value": "N",
        "number": true,
        "orDefault": true,
        "sentence": "Text messages a day (UTC). `default`: the default of the mode."
      },
      {
        "name": "rate-limit",
        "value": "N",
        "number": true,
        "orDefault": true,
        "sentence": "Requests in 60 seconds for each type of key. `default`: the default of the mode."
      },
      {
        "name": "prefix",
        "value": "on|off",
        "choices": [
          "on",
          "off"
        ],
        "sentence": "Begin text messages with the service's name."
      },
      {
        "name": "mailbox",
        "value": "MAILBOX",
        "sentence": "Local part (before the @) of the sender address of e-mails."
      },
      {
        "name": "home-country",
        "value": "COUNTRY",
        "sentence": "Country of phone numbers without a country code, for example CA; its numbers are not international. `default`: that of the installation."
      },
      {
        "name": "email-retention-days",
        "value": "DAYS",
        "number": true,
        "sentence": "How long e-mails are kept, 1 to 365."
      },
      {
        "name": "sms-retention-days",
        "value": "DAYS",
        "number": true,
        "sentence": "How long text messages are kept, 1 to 365."
      }
    ],
    "sentence": "Change a service. Settings that are not given stay as they are.",
    "more": "A running Herald applies the change at once.",
    "examples": [
      "herald service set \"Parking permits\" --mode live --email-daily-limit 50000",
      "herald service set 0190a1b2 --forbid international,files --prefix off"
    ]
  },
  {
    "file": "transfer",
    "noun": "service",
    "verb": "export",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "out",
        "value": "FILE",
        "required": true,
        "sentence": "The file to write. It must not exist yet."
      },
      {
        "name": "passphrase-file",
        "value": "FILE",
        "sentence": "A file with the passphrase; - reads standard input. Default: it is asked for on the terminal."
      }
    ],
    "sentence": "Write a service to a file, to move it to another cell.",
    "more": "The file contains settings, limits, team, templates with all versions, folders, API keys, senders, reply-to addresses, safelist, webhooks and requests to go live. Messages, jobs, files, events and counts stay. It is sealed with a passphrase of at least 12 characters, which is never an argument: anybody who has both can use the keys. The service is not changed. The order of a move is in docs/scaling.md.",
    "examples": [
      "herald service export \"Parking permits\" --out permits.herald"
    ]
  },
  {
    "file": "transfer",
    "noun": "service",
    "verb": "import",
    "args": [
      {
        "name": "FILE",
        "sentence": "A file that `herald service export` has written."
      }
    ],
    "options": [
      {
        "name": "passphrase-file",
        "value": "FILE",
        "sentence": "A file with the passphrase; - reads standard input. Default: it is asked for on the terminal."
      }
    ],
    "sentence": "Add a service from a file that another cell has exported.",
    "more": "Ids stay: of the service, its templates and its keys, so that callers go on with their keys and template ids. People are found by their e-mail addresses, or added. All of it is stored, or nothing. A service that exists here is never changed.",
    "examples": [
      "herald service import permits.herald"
    ]
  },
  {
    "file": "move",
    "noun": "export",
    "options": [
      {
        "name": "out",
        "value": "FILE",
        "required": true,
        "sentence": "The file to write. It must not exist yet."
      },
      {
        "name": "service",
        "value": "SERVICE",
        "many": true,
        "sentence": "Only this service, by name or id. Default: all."
      },
      {
        "name": "secrets-file",
        "value": "FILE",
        "sentence": "Also write the secrets of keys and webhooks, to this file. Who has it can use every key."
      }
    ],
    "sentence": "Write services with their templates, keys, webhooks and settings as JSON, to move them to another installation.",
    "more": "The form is in docs/moving.md. Messages, jobs and counts are not in it. The same content is always the same bytes.",
    "examples": [
      "herald export --out moving.json",
      "herald export --out moving.json --secrets-file moving.secrets.json"
    ]
  },
  {
    "file": "move",
    "noun": "import",
    "args": [
      {
        "name": "FILE",
        "sentence": "A file that herald export has written; - reads standard input.",
        "optional": true
      }
    ],
    "options": [
      {
        "name": "dry-run",
        "sentence": "Store nothing, and report what an import would do."
      },
      {
        "name": "from-database",
        "value": "URL",
        "sentence": "Instead of a file: the PostgreSQL database of the reference implementation. It is only read."
      },
      {
        "name": "signing-secret-file",
        "value": "FILE",
        "sentence": "With --from-database: a file with its SECRET_KEY, to take over secrets of keys and callbacks."
      },
      {
        "name": "signing-salt",
        "value": "SALT",
        "sentence": "With --from-database: the salt of its keys and tokens. Default: api_key and bearer_token."
      },
      {
        "name": "secrets-file",
        "value": "FILE",
        "sentence": "A JSON object with the id of a key or webhook and its secret, or the whole key, in each line."
      }
    ],
    "sentence": "Add services with their templates, keys, webhooks and settings from another installation.",
    "more": "Ids, versions and keys stay valid, so that callers change the address only. What is here already is not changed, so the import can be repeated: after an interruption it goes on, and later it adds what is new. Each service is stored as a whole or not at all. The report says what was not taken over; exit code 1 if a service was refused. The sample service of a first start is skipped where there is one already. docs/moving.md has the order of a move.",
    "examples": [
      "herald import moving.json --dry-run",
      "herald import moving.json --secrets-file moving.secrets.json",
      "herald import --from-database postgresql://reader@db.example.org/notify --signing-secret-file secret.txt --dry-run"
    ]
  },
  {
    "file": "key",
    "noun": "key",
    "verb": "create",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "required": true,
        "sentence": "Name of the key, which becomes part of its text."
      },
      {
        "name": "type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "required": true,
        "sentence": "live sends to anyone, team only to team members and the safelist, test sends nothing."
      },
      {
        "name": "manage-templates",
        "sentence": "Allow it to create, change and archive templates."
      },
      {
        "name": "manage-webhooks",
        "sentence": "Allow it to create, change and remove webhooks of its type of key."
      },
      {
        "name": "created-by",
        "value": "EMAIL",
        "sentence": "Author of the key. Default: the first team member, or operator@ the sending domain if there is none."
      },
      {
        "name": "expires",
        "value": "WHEN",
        "sentence": "When it expires: 90d, 12h, 4w, or a date like 2027-01-31 (0:00 UTC). Default: never."
      }
    ],
    "sentence": "Create an API key and show it once.",
    "more": "The key cannot be shown again.",
    "examples": [
      "herald key create \"Parking permits\" --name website --type live --expires 90d",
      "herald key create 0190a1b2 --name ci --type test --manage-templates --json"
    ]
  },
  {
    "file": "key",
    "noun": "key",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the keys of a service, without their secrets."
  },
  {
    "file": "key",
    "noun": "key",
    "verb": "revoke",
    "args": [
      {
        "name": "KEY",
        "sentence": "Id of the key, its first characters (at least 8), or the whole key itself."
      }
    ],
    "sentence": "Revoke a key for good. A running Herald refuses it at once.",
    "more": "Prefer the id to the key: the shell history keeps what is typed."
  },
  {
    "file": "user",
    "noun": "user",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "required": true,
        "sentence": "Name of the person."
      },
      {
        "name": "email",
        "value": "EMAIL",
        "required": true,
        "sentence": "Their e-mail address."
      },
      {
        "name": "phone",
        "value": "NUMBER",
        "sentence": "Their phone number, with the country code: +16135550123."
      },
      {
        "name": "role",
        "value": "ROLE",
        "choices": [
          "viewer",
          "author",
          "sender",
          "developer",
          "manager"
        ],
        "sentence": "What they may do in the console. Default: viewer, who sees everything and changes nothing."
      }
    ],
    "sentence": "Add a team member. Trial services and team keys may send to team members, who can sign in to the console.",
    "examples": [
      "herald user add \"Parking permits\" --name \"Ada Park\" --email ada@example.org --role author"
    ]
  },
  {
    "file": "user",
    "noun": "user",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the team members of a service."
  },
  {
    "file": "user",
    "noun": "user",
    "verb": "role",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "USER",
        "sentence": "E-mail address or id of the team member."
      },
      {
        "name": "ROLE",
        "sentence": "One of viewer, author, sender, developer, manager."
      }
    ],
    "sentence": "Change what a team member may do in the console.",
    "more": "It counts from their next request. A manager may do everything in the service.",
    "examples": [
      "herald user role \"Parking permits\" ada@example.org manager"
    ]
  },
  {
    "file": "user",
    "noun": "user",
    "verb": "remove",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "USER",
        "sentence": "E-mail address or id of the team member."
      }
    ],
    "sentence": "Remove a member from the team of a service.",
    "more": "Somebody who then belongs to no service, and is no operator, is signed out at once."
  },
  {
    "file": "user",
    "noun": "user",
    "verb": "sign-in-link",
    "args": [
      {
        "name": "EMAIL",
        "sentence": "Their e-mail address."
      }
    ],
    "sentence": "Print a link that signs a person in to the console.",
    "more": "For somebody who gets no mail, and for the first operator. It works once, in any browser, for 60 minutes. Somebody who has it is signed in as that person. It is recorded who made it.",
    "examples": [
      "herald user sign-in-link ada@example.org"
    ]
  },
  {
    "file": "user",
    "noun": "operator",
    "verb": "add",
    "args": [
      {
        "name": "EMAIL",
        "sentence": "E-mail address of the person."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "sentence": "Name of somebody who is not known yet."
      }
    ],
    "sentence": "Make somebody an operator of the installation: all services and people, in the console.",
    "more": "Operators see messages of a service only after they have joined it, which is recorded.",
    "examples": [
      "herald operator add grace@example.org --name \"Grace Hale\"",
      "herald user sign-in-link grace@example.org"
    ]
  },
  {
    "file": "user",
    "noun": "operator",
    "verb": "list",
    "sentence": "List the operators of the installation."
  },
  {
    "file": "user",
    "noun": "operator",
    "verb": "remove",
    "args": [
      {
        "name": "EMAIL",
        "sentence": "E-mail address of the person."
      }
    ],
    "sentence": "Make an operator an ordinary person again. The last operator stays."
  },
  {
    "file": "lists",
    "noun": "reply-to",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "ADDRESS",
        "sentence": "E-mail address that replies go to."
      }
    ],
    "options": [
      {
        "name": "default",
        "sentence": "Make it the default. Also works for an existing one."
      }
    ],
    "sentence": "Add a reply-to address; the first one becomes the default."
  },
  {
    "file": "lists",
    "noun": "reply-to",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the reply-to addresses of a service."
  },
  {
    "file": "lists",
    "noun": "reply-to",
    "verb": "remove",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "ADDRESS",
        "sentence": "The reply-to address or its id."
      }
    ],
    "sentence": "Archive a reply-to address. Messages can no longer use it."
  },
  {
    "file": "lists",
    "noun": "sender",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "SENDER",
        "sentence": "1 to 11 letters and digits, or a phone number."
      }
    ],
    "options": [
      {
        "name": "default",
        "sentence": "Make it the default. Also works for an existing one."
      }
    ],
    "sentence": "Add a text sender; the first one becomes the default."
  },
  {
    "file": "lists",
    "noun": "sender",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the text senders of a service."
  },
  {
    "file": "lists",
    "noun": "sender",
    "verb": "remove",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "SENDER",
        "sentence": "The text sender or its id."
      }
    ],
    "sentence": "Archive a text sender. Messages can no longer use it."
  },
  {
    "file": "lists",
    "noun": "safelist",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "RECIPIENT",
        "sentence": "An e-mail address, or a phone number with the country code."
      }
    ],
    "sentence": "Allow a recipient outside the team for trial services and team keys."
  },
  {
    "file": "lists",
    "noun": "safelist",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the safelist of a service."
  },
  {
    "file": "lists",
    "noun": "safelist",
    "verb": "remove",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "RECIPIENT",
        "sentence": "The recipient, or the id of the entry."
      }
    ],
    "sentence": "Remove a recipient from the safelist."
  },
  {
    "file": "lists",
    "noun": "folder",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "NAME",
        "sentence": "Name of the folder."
      }
    ],
    "options": [
      {
        "name": "in",
        "value": "FOLDER",
        "sentence": "Folder around it: id, name, or path like \"Permits / Renewals\"."
      }
    ],
    "sentence": "Create a folder for templates.",
    "more": "Its id is what the API calls `parent_folder_id`."
  },
  {
    "file": "lists",
    "noun": "folder",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the folders of a service and the number of templates in each."
  },
  {
    "file": "lists",
    "noun": "folder",
    "verb": "set",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "FOLDER",
        "sentence": "Name, path or id of the folder."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "sentence": "New name."
      },
      {
        "name": "in",
        "value": "FOLDER",
        "sentence": "Folder around it: id, name, or path like \"Permits / Renewals\"."
      },
      {
        "name": "top",
        "sentence": "Move it to the top, out of the folder around it."
      }
    ],
    "sentence": "Rename a folder, or move it into another one."
  },
  {
    "file": "lists",
    "noun": "folder",
    "verb": "remove",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "FOLDER",
        "sentence": "Name, path or id of the folder."
      }
    ],
    "options": [
      {
        "name": "move-templates-out",
        "sentence": "Move its templates and folders to the folder around it first. They stay usable."
      }
    ],
    "sentence": "Remove an empty folder."
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "search",
        "value": "WORDS",
        "sentence": "Only templates with these words in name, subject or content."
      },
      {
        "name": "archived",
        "sentence": "Archived templates instead."
      }
    ],
    "sentence": "List the templates of a service, by name.",
    "more": "Shows at most 1000."
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "show",
    "args": [
      {
        "name": "TEMPLATE",
        "sentence": "Id of the template, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "version",
        "value": "N",
        "number": true,
        "sentence": "This version. Default: the latest."
      }
    ],
    "sentence": "Show a template with its content and placeholders."
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "create",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "required": true,
        "sentence": "Name of the template."
      },
      {
        "name": "type",
        "value": "TYPE",
        "choices": [
          "email",
          "sms"
        ],
        "required": true,
        "sentence": "E-mail or text message."
      },
      {
        "name": "category",
        "value": "CATEGORY",
        "sentence": "Name or id of the category, which decides the priority of its messages.",
        "required": true
      },
      {
        "name": "subject",
        "value": "TEXT",
        "sentence": "Subject of an e-mail."
      },
      {
        "name": "content-file",
        "value": "FILE",
        "sentence": "File with the content; - reads standard input.",
        "required": true
      },
      {
        "name": "folder",
        "value": "FOLDER",
        "sentence": "Folder: id, name, or path like \"Permits / Renewals\"."
      }
    ],
    "sentence": "Create a template.",
    "examples": [
      "herald template create \"Parking permits\" --name Renewal --type email --category \"Status update\" --subject \"Renew by ((date))\" --content-file renewal.md"
    ]
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "edit",
    "args": [
      {
        "name": "TEMPLATE",
        "sentence": "Id of the template, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "name",
        "value": "NAME",
        "sentence": "New name."
      },
      {
        "name": "subject",
        "value": "TEXT",
        "sentence": "Subject of an e-mail."
      },
      {
        "name": "content-file",
        "value": "FILE",
        "sentence": "File with the content; - reads standard input."
      },
      {
        "name": "category",
        "value": "CATEGORY",
        "sentence": "Name or id of the category, which decides the priority of its messages."
      },
      {
        "name": "folder",
        "value": "FOLDER",
        "sentence": "Folder: id, name, or path like \"Permits / Renewals\"."
      }
    ],
    "sentence": "Change a template: a new version. What is not given stays as it is.",
    "more": "Without options, on a terminal, it opens the template in the editor that VISUAL or EDITOR names, and saves what you have changed. The file has the form of templates as code. Accepted messages keep their version.",
    "examples": [
      "herald template edit 0190a1b2-…",
      "herald template edit 0190a1b2-… --subject \"Renew by ((date))\" --content-file renewal.md"
    ]
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "versions",
    "args": [
      {
        "name": "TEMPLATE",
        "sentence": "Id of the template, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "below",
        "value": "N",
        "number": true,
        "sentence": "Only versions before this one."
      }
    ],
    "sentence": "List the versions of a template, newest first.",
    "more": "Shows 50; the last line says how to see older ones."
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "diff",
    "args": [
      {
        "name": "TEMPLATE",
        "sentence": "Id of the template, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "from",
        "value": "N",
        "number": true,
        "sentence": "The older version. Default: the one before the other."
      },
      {
        "name": "to",
        "value": "N",
        "number": true,
        "sentence": "The newer version. Default: the latest."
      }
    ],
    "sentence": "Show what differs between two versions of a template.",
    "examples": [
      "herald template diff 0190a1b2-…",
      "herald template diff 0190a1b2-… --from 3 --to 7"
    ]
  },
  {
    "file": "template",
    "noun": "template",
    "verb": "set",
    "args": [
      {
        "name": "TEMPLATE",
        "sentence": "Id of the template, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "values",
        "value": "HOW",
        "choices": [
          "plain",
          "formatted"
        ],
        "required": true,
        "sentence": "plain: values are shown as they are; formatted: Markdown in values becomes links, lists, headings."
      }
    ],
    "sentence": "Set how an e-mail template treats Markdown in values.",
    "more": "Use plain for values that come from the public: a name like [click here](https://…) must not become a link. The command creates a new version of the template. Accepted messages keep their version; later edits keep the setting.",
    "examples": [
      "herald template set 0190a1b2-… --values plain"
    ]
  },
  {
    "file": "templates",
    "noun": "templates",
    "verb": "pull",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "FOLDER",
        "sentence": "Folder of the files."
      }
    ],
    "options": [
      {
        "name": "force",
        "sentence": "Also replace files that differ from the version they were pulled from."
      }
    ],
    "sentence": "Write the templates of a service to a folder, a file each.",
    "more": "A file that exists for a template is replaced under its name. Samples are never changed. Archived templates are left out.",
    "examples": [
      "herald templates pull \"Parking permits\" templates/"
    ]
  },
  {
    "file": "templates",
    "noun": "templates",
    "verb": "diff",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "FOLDER",
        "sentence": "Folder of the files."
      }
    ],
    "sentence": "Show what a push would change, and what would break callers.",
    "more": "Exit code 1 if anything differs."
  },
  {
    "file": "templates",
    "noun": "templates",
    "verb": "push",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "FOLDER",
        "sentence": "Folder of the files."
      }
    ],
    "options": [
      {
        "name": "dry-run",
        "sentence": "Only check and say what would change."
      },
      {
        "name": "allow-breaking",
        "sentence": "Also push changes that break callers."
      }
    ],
    "sentence": "Create and change templates of a service from a folder of files.",
    "more": "All samples are tested first, and nothing is pushed if one fails. A change breaks callers if it adds a placeholder: requests without its value are refused. A template that somebody else has changed since it was pulled is not overwritten. Files get the id and the version of what was pushed. Templates without a file stay as they are.",
    "examples": [
      "herald templates push \"Parking permits\" templates/ --dry-run"
    ]
  },
  {
    "file": "templates",
    "noun": "templates",
    "verb": "test",
    "args": [
      {
        "name": "FOLDER",
        "sentence": "Folder of the files."
      }
    ],
    "options": [
      {
        "name": "update",
        "sentence": "Write what is rendered now into the samples as what is expected."
      }
    ],
    "sentence": "Render the samples of a folder and compare them with what is expected.",
    "more": "Needs no database and no settings. Exit code 1 if a sample fails.",
    "examples": [
      "herald templates test templates/"
    ]
  },
  {
    "file": "send",
    "noun": "send",
    "options": [
      {
        "name": "template",
        "value": "ID",
        "required": true,
        "sentence": "Id of the template to send, or its first characters (at least 8)."
      },
      {
        "name": "to",
        "value": "RECIPIENT",
        "sentence": "E-mail address or phone number.",
        "required": true
      },
      {
        "name": "value",
        "value": "NAME=TEXT",
        "many": true,
        "sentence": "Value of a placeholder."
      },
      {
        "name": "values",
        "value": "FILE",
        "sentence": "JSON file with an object of values; - reads standard input."
      },
      {
        "name": "reference",
        "value": "TEXT",
        "sentence": "Reference, by which the message can be found."
      },
      {
        "name": "scheduled-for",
        "value": "WHEN",
        "sentence": "When to send, at most 96 hours from now, for example 2027-01-31T18:00Z."
      },
      {
        "name": "reply-to",
        "value": "ID",
        "sentence": "Id of the reply-to address, or of the text sender."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "Which key type applies: live (default), team, or test, which sends nothing."
      },
      {
        "name": "yes",
        "sentence": "Send without asking. Required when there is no terminal."
      }
    ],
    "sentence": "Send one message from a template.",
    "more": "It belongs to the service of the template and counts towards its limits; the audit log names the system account. A running service sends it within a second. herald check with --to shows what the recipient would get. On a terminal the command asks first.",
    "examples": [
      "herald send --template 0190a1b2-… --to ann@example.org --value name=Ann",
      "herald send --template 0190a1b2-… --to +16135550123 --values values.json --key-type test"
    ]
  },
  {
    "file": "check",
    "noun": "check",
    "args": [
      {
        "name": "FILE",
        "optional": true,
        "sentence": "CSV file with a header row and one row per recipient; - reads standard input. Not with --to."
      }
    ],
    "options": [
      {
        "name": "template",
        "value": "ID",
        "required": true,
        "sentence": "Id of the template to send, or its first characters (at least 8)."
      },
      {
        "name": "to",
        "value": "RECIPIENT",
        "sentence": "Check one message to this recipient."
      },
      {
        "name": "value",
        "value": "NAME=TEXT",
        "many": true,
        "sentence": "Value of a placeholder."
      },
      {
        "name": "values",
        "value": "FILE",
        "sentence": "JSON file with an object of values; - reads standard input."
      },
      {
        "name": "scheduled-for",
        "value": "WHEN",
        "sentence": "When to send, at most 96 hours from now, for example 2027-01-31T18:00Z."
      },
      {
        "name": "reply-to",
        "value": "ID",
        "sentence": "Id of the reply-to address, or of the text sender."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "Which key type applies: live (default), team, or test, which sends nothing."
      }
    ],
    "sentence": "Check a CSV file or one message before it is sent: everything that is wrong. Nothing is sent.",
    "more": "The checks are those of herald job send and herald send, for the service of the template. Row 1 is the first row after the header. Exit code 1 if it would be refused. It counts as one request of the service. herald job errors lists all row errors with their values.",
    "examples": [
      "herald check people.csv --template 0190a1b2-…",
      "herald check --template 0190a1b2-… --to ann@example.org --value name=Ann"
    ]
  },
  {
    "file": "job-file",
    "noun": "job",
    "verb": "send",
    "options": [
      {
        "name": "template",
        "value": "ID",
        "required": true,
        "sentence": "Id of the template to send, or its first characters (at least 8)."
      },
      {
        "name": "csv",
        "value": "FILE",
        "required": true,
        "sentence": "CSV file with a header row and one row per recipient; - reads standard input."
      },
      {
        "name": "name",
        "value": "NAME",
        "sentence": "Name of the job. Default: the name of the file."
      },
      {
        "name": "scheduled-for",
        "value": "WHEN",
        "sentence": "When to send, at most 96 hours from now, for example 2027-01-31T18:00Z."
      },
      {
        "name": "reply-to",
        "value": "ID",
        "sentence": "Id of the reply-to address, or of the text sender."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "Which key type applies: live (default), team, or test, which sends nothing."
      },
      {
        "name": "yes",
        "sentence": "Send without asking. Required when there is no terminal."
      },
      {
        "name": "no-wait",
        "sentence": "Return as soon as the job is accepted. Scheduled jobs always do."
      }
    ],
    "sentence": "Send a template to every recipient in a CSV file and wait until all messages are final.",
    "more": "The job belongs to the service of the template and counts towards its limits. On a terminal the command shows the number of messages and the first one, and asks for confirmation. Without a terminal it needs --yes, unless --key-type is test. An accepted job continues when the command is interrupted.",
    "examples": [
      "herald job send --template 0190a1b2-… --csv people.csv --name \"Spring letter\"",
      "herald job send --template 0190a1b2-… --csv people.csv --yes"
    ]
  },
  {
    "file": "job-file",
    "noun": "job",
    "verb": "errors",
    "options": [
      {
        "name": "template",
        "value": "ID",
        "required": true,
        "sentence": "Id of the template to send, or its first characters (at least 8)."
      },
      {
        "name": "csv",
        "value": "FILE",
        "required": true,
        "sentence": "CSV file with a header row and one row per recipient; - reads standard input."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "Which key type applies: live (default), team, or test, which sends nothing."
      }
    ],
    "sentence": "List all errors of a CSV file, as CSV. Nothing is sent.",
    "more": "Row 1 is the first row after the header. Exit code 1 if there are errors.",
    "examples": [
      "herald job errors --template 0190a1b2-… --csv people.csv > wrong.csv"
    ]
  },
  {
    "file": "job",
    "noun": "job",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the bulk jobs of a service, newest first.",
    "more": "Shows the newest 250."
  },
  {
    "file": "job",
    "noun": "job",
    "verb": "show",
    "args": [
      {
        "name": "JOB",
        "sentence": "Id of the job, or its first characters (at least 8)."
      }
    ],
    "sentence": "Show a job and the number of its messages in each status."
  },
  {
    "file": "job",
    "noun": "job",
    "verb": "watch",
    "args": [
      {
        "name": "JOB",
        "sentence": "Id of the job, or its first characters (at least 8)."
      }
    ],
    "sentence": "Show the progress of a job until all its messages are final.",
    "more": "A job that is scheduled is watched from its start. Interrupting the command does not change the job."
  },
  {
    "file": "job",
    "noun": "job",
    "verb": "cancel",
    "args": [
      {
        "name": "JOB",
        "sentence": "Id of the job, or its first characters (at least 8)."
      }
    ],
    "sentence": "Cancel a scheduled job that has not started."
  },
  {
    "file": "message",
    "noun": "message",
    "verb": "show",
    "args": [
      {
        "name": "ID",
        "sentence": "Id of the message, as the API returned it."
      }
    ],
    "sentence": "Show what happened to a message, and why.",
    "more": "A sentence says what happened and what to do; then every step follows: attempts with the reply of the provider, receipts, changes of status, webhooks. The diagnosis and the replies are texts of the provider. They may name the recipient, so they are stored sealed and purged with the message.",
    "examples": [
      "herald message show 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
    ]
  },
  {
    "file": "message",
    "noun": "message",
    "verb": "find",
    "options": [
      {
        "name": "to",
        "value": "ADDRESS",
        "sentence": "Recipient: an e-mail address or a phone number, in any spelling."
      },
      {
        "name": "reference",
        "value": "TEXT",
        "sentence": "Reference that the caller gave, exactly."
      },
      {
        "name": "service",
        "value": "SERVICE",
        "sentence": "Only messages of this service. Default: all services."
      },
      {
        "name": "limit",
        "value": "NUMBER",
        "number": true,
        "formerly": [
          "most"
        ],
        "sentence": "How many messages to show, at most 1000. Default: 50."
      }
    ],
    "sentence": "Find messages by recipient or by reference.",
    "more": "Newest first. Recipients are stored sealed; a keyed digest of each makes the exact search possible, and is deleted with the message. Messages of versions before this one have no digest.",
    "examples": [
      "herald message find --to jo@example.org",
      "herald message find --reference order-1207 --service \"Parking permits\""
    ]
  },
  {
    "file": "message",
    "noun": "message",
    "verb": "cancel",
    "args": [
      {
        "name": "ID",
        "sentence": "Id of the message, as the API returned it."
      }
    ],
    "sentence": "Cancel a scheduled message that is not sent yet."
  },
  {
    "file": "message",
    "noun": "message",
    "verb": "resend",
    "args": [
      {
        "name": "ID",
        "sentence": "Id of the message, as the API returned it."
      }
    ],
    "options": [
      {
        "name": "yes",
        "sentence": "Send without asking. Required when there is no terminal."
      }
    ],
    "sentence": "Send a copy of a message: the same values to the same recipient, by the template as it is now.",
    "more": "The checks and limits are those of any message of the service. The copy of a test message is a test message. Attachments are kept only until a message was sent; without them there is no copy."
  },
  {
    "file": "events",
    "noun": "events",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8).",
        "optional": true
      }
    ],
    "options": [
      {
        "name": "follow",
        "sentence": "Go on until interrupted, and print events as they happen."
      },
      {
        "name": "after",
        "value": "PLACE",
        "sentence": "Begin after a cursor, at a time (2026-01-31T12:00:00Z), or now. Default: all that is stored; now with --follow."
      },
      {
        "name": "types",
        "value": "TYPES",
        "many": true,
        "sentence": "Only these types, separated by commas: notification.delivered,job.finished."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "Only what was sent with keys of this type."
      }
    ],
    "sentence": "Print what happened to messages and jobs, in order; of all services, or of one.",
    "more": "With --json every line is a JSON document, with a cursor to go on after it. Recipients and contents are not shown.",
    "examples": [
      "herald events \"Parking permits\" --follow",
      "herald events --types notification.permanent-failure --after 2026-01-31 --json"
    ]
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "add",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "URL",
        "sentence": "Address that events are posted to."
      }
    ],
    "options": [
      {
        "name": "types",
        "value": "LIST",
        "many": true,
        "sentence": "Types of events, separated by commas: notification.delivered,job.finished. Default: all types."
      },
      {
        "name": "key-type",
        "value": "TYPE",
        "choices": [
          "live",
          "team",
          "test"
        ],
        "synonyms": {
          "normal": "live"
        },
        "sentence": "It gets events of messages that keys of this type have sent. Default: live."
      },
      {
        "name": "batch",
        "value": "N",
        "number": true,
        "sentence": "How many events one request has at most, 1 to 100."
      },
      {
        "name": "include-recipient",
        "sentence": "Add the recipient to events of messages."
      },
      {
        "name": "format",
        "value": "FORMAT",
        "choices": [
          "standard",
          "callback"
        ],
        "sentence": "standard (default): Standard Webhooks 1.0, signed; callback: one message a request, with a bearer token."
      },
      {
        "name": "token-file",
        "value": "FILE",
        "sentence": "For the format callback: a file with the bearer token; - reads standard input."
      }
    ],
    "sentence": "Add a webhook to a service and show its secret once.",
    "more": "It gets events from now on; herald webhook replay sends earlier ones.",
    "examples": [
      "herald webhook add \"Parking permits\" https://permits.example.org/events --batch 100",
      "herald webhook add 0190a1b2 https://permits.example.org/callback --format callback --token-file token.txt"
    ]
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "list",
    "args": [
      {
        "name": "SERVICE",
        "sentence": "Exact name of the service, its id, or the first characters of its id (at least 8)."
      }
    ],
    "sentence": "List the webhooks of a service."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "show",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "sentence": "Show a webhook, without its secret."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "set",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "url",
        "value": "URL",
        "sentence": "Another address."
      },
      {
        "name": "types",
        "value": "LIST",
        "many": true,
        "sentence": "Types of events, separated by commas: notification.delivered,job.finished. Default: all types."
      },
      {
        "name": "all-types",
        "sentence": "All types of events."
      },
      {
        "name": "batch",
        "value": "N",
        "number": true,
        "sentence": "How many events one request has at most, 1 to 100."
      },
      {
        "name": "recipient",
        "value": "HOW",
        "choices": [
          "include",
          "omit"
        ],
        "sentence": "Whether events contain the recipient."
      },
      {
        "name": "token-file",
        "value": "FILE",
        "sentence": "For the format callback: a file with the bearer token; - reads standard input."
      }
    ],
    "sentence": "Change a webhook.",
    "examples": [
      "herald webhook set 0190a1b2 --url https://permits.example.org/v2/events"
    ]
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "pause",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "sentence": "Send nothing to a webhook until herald webhook resume.",
    "more": "Nothing is lost: its events stay in the log, as long as messages are kept."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "resume",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "from",
        "value": "TIME",
        "sentence": "Send everything from this time on again, for example 2026-06-15T12:30:00Z. Default: what was not sent."
      }
    ],
    "sentence": "Resume a webhook that was paused, or that Herald has disabled."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "remove",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "sentence": "Remove a webhook for good."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "rotate-secret",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "overlap-hours",
        "value": "N",
        "number": true,
        "sentence": "How long requests are signed with the previous secret too, 0 to 168. Default: 24."
      }
    ],
    "sentence": "Replace the secret of a webhook and show the new one once."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "test",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "sentence": "Send a webhook a test event now and show the answer.",
    "more": "The type of the event is webhook.test. Exit code 1 unless the answer is 200 to 299 within 10 seconds."
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "replay",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "from",
        "value": "TIME",
        "sentence": "Send the events from this time on again, for example 2026-06-15T12:30:00Z."
      },
      {
        "name": "to",
        "value": "TIME",
        "sentence": "End of the time. Default: now."
      },
      {
        "name": "types",
        "value": "LIST",
        "many": true,
        "sentence": "Only these types of events, separated by commas. Default: the types of the webhook."
      },
      {
        "name": "event",
        "value": "ID",
        "sentence": "Send this event again."
      },
      {
        "name": "failed",
        "sentence": "Send every event again that the webhook has refused."
      }
    ],
    "sentence": "Send events to a webhook again: of a time, one event, or those that it refused.",
    "examples": [
      "herald webhook replay 0190a1b2 --from 2026-06-15T12:30:00Z --to 2026-06-15T14:00:00Z",
      "herald webhook replay 0190a1b2 --failed"
    ]
  },
  {
    "file": "webhook",
    "noun": "webhook",
    "verb": "attempts",
    "args": [
      {
        "name": "WEBHOOK",
        "sentence": "Id of the webhook, or its first characters (at least 8)."
      }
    ],
    "options": [
      {
        "name": "failed",
        "sentence": "Only attempts without a success."
      },
      {
        "name": "limit",
        "value": "NUMBER",
        "number": true,
        "formerly": [
          "most"
        ],
        "sentence": "How many, newest first. Default: 20."
      }
    ],
    "sentence": "List what was sent to a webhook in the last 7 days, and what it answered."
  },
  {
    "file": "inbox",
    "noun": "inbox",
    "options": [
      {
        "name": "limit",
        "value": "NUMBER",
        "number": true,
        "formerly": [
          "most"
        ],
        "sentence": "How many messages to show. Default: 50."
      },
      {
        "name": "message",
        "value": "ID",
        "sentence": "Show one message in full."
      },
      {
        "name": "link",
        "sentence": "Print the link that opens the page /inbox in a browser on this machine."
      }
    ],
    "sentence": "Show messages that were not sent: those of test keys, and those captured because the channel has no provider.",
    "more": "Newest first. The page /inbox of a running Herald shows the same to anyone who has its link; keep the link secret."
  },
  {
    "file": "audit",
    "noun": "audit",
    "options": [
      {
        "name": "service",
        "value": "SERVICE",
        "sentence": "Only of this service: its name, its id, or the first characters of its id (at least 8)."
      },
      {
        "name": "limit",
        "value": "NUMBER",
        "number": true,
        "formerly": [
          "most"
        ],
        "sentence": "How many entries to show. Default: 100."
      }
    ],
    "sentence": "Show who changed keys, templates and services, and who cancelled what; newest first.",
    "more": "WHO is an API key, a person, or the operator with the name of the system account that ran the command. Names are those of today: entries hold ids. An entry is added in the same transaction as the change and cannot be changed or deleted. Entries hold ids and settings, never recipients or contents of messages.",
    "examples": [
      "herald audit --service \"Parking permits\" --limit 20"
    ]
  },
  {
    "file": "completion",
    "noun": "completion",
    "args": [
      {
        "name": "SHELL",
        "choices": [
          "bash",
          "zsh",
          "fish"
        ],
        "sentence": "bash, zsh or fish."
      }
    ],
    "sentence": "Print a script that completes commands and options in a shell.",
    "more": "Put the line of the example into the start file of the shell: ~/.bashrc, ~/.zshrc (after compinit), ~/.config/fish/config.fish.",
    "examples": [
      "source <(herald completion bash)",
      "source <(herald completion zsh)",
      "herald completion fish | source"
    ]
  }
]
