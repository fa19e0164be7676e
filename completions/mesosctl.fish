# fish completion for mesosctl; made from its commands by python -m mesosctl.cli.reference

# Find the command among the words so far, how many further words there are, and what goes along to mesosctl.
function __mesosctl_walk
    set -l line (commandline -cp | string collect)
    if test "$line" = "$__mesosctl_line"; and set -q __mesosctl_path
        return
    end
    set -g __mesosctl_line $line
    set -g __mesosctl_path ""
    set -g __mesosctl_count 0
    set -g __mesosctl_along
    set -g __mesosctl_master "$MESOSCTL_MASTER"
    set -g __mesosctl_context "$MESOSCTL_CONTEXT"
    set -l skip ""
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -z "$skip"; and string match -q -- '--*=*' $word
            set -l parts (string split -m 1 = -- $word)
            set skip $parts[1]
            set word $parts[2]
        else if test -z "$skip"
            set -l deeper (string trim -- "$__mesosctl_path $word")
            if contains -- $word --add-agent --agent --api --assume --attribute --burst --cacert --capacity --cert --changes --compare --context --count --cycles --every --file --for --framework --from --headroom --id --interval --key --label --limit --lose-agent --lose-fraction --lose-framework --master --memory --message-size --offer --output --path --principal --qps --report --reserve --reserver --role --secret-file --secret-from --steps --svg --timeout --token-file --token-scheme --traffic --under --unreserve --unset --wait-for -f -o
                set skip $word
            else if string match -q -- '-*' $word
                continue
            else if test $__mesosctl_count -eq 0; and contains -- $deeper 'apply' 'completion' 'context' 'context list' 'context remove' 'context set' 'context show' 'context use' 'diff' 'export' 'offers' 'offers explain' 'offers list' 'offers reserve' 'offers simulate' 'offers take' 'offers unreserve' 'offers watch' 'quota' 'quota check' 'quota list' 'quota remove' 'quota set' 'quota show' 'quota update' 'ratelimit' 'ratelimit default' 'ratelimit plan' 'ratelimit set' 'ratelimit show' 'ratelimit simulate' 'ratelimit suggest' 'ratelimit unset' 'ratelimit validate' 'ratelimit watch' 'reservations' 'reserve' 'snapshot' 'unreserve' 'volumes' 'volumes create' 'volumes destroy' 'volumes list' 'whatif'
                set -g __mesosctl_path $deeper
            else
                set -g __mesosctl_count (math $__mesosctl_count + 1)
            end
            continue
        end
        if contains -- $skip --cacert --cert --context --key --master --principal --secret-file --secret-from --token-file --token-scheme
            set -a __mesosctl_along $skip (string replace -r '^~/' "$HOME/" -- $word)
        end
        switch $skip
            case --master
                set -g __mesosctl_master $word
            case --context
                set -g __mesosctl_context $word
        end
        set skip ""
    end
end

# Whether the words so far lead to a command, with so many further words after it; 1+ means one or more.
function __mesosctl_at
    __mesosctl_walk
    test "$__mesosctl_path" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $__mesosctl_count -ge (string trim -c + -- $argv[2])
        case '*'
            test $__mesosctl_count -eq $argv[2]
    end
end

# Names of some kinds that mesosctl keeps; it is asked only where they are too old.
function __mesosctl_names
    __mesosctl_walk
    set -l where default
    if test -n "$__mesosctl_master"
        set -l address (string replace -r '//.*@' '//' -- $__mesosctl_master)
        set where master-(string replace -ra '[^A-Za-z0-9._-]' _ -- $address)
    else if test -n "$__mesosctl_context"
        set where context-$__mesosctl_context
    end
    set -l folder "$XDG_CACHE_HOME"
    if not string match -q '/*' -- $folder
        set folder $HOME/.cache
    end
    for kind in $argv
        set -l file $folder/mesosctl/names/$where/$kind
        if test $kind = context
            set file $folder/mesosctl/names/context
        end
        set -l lines
        if test -r $file
            while read -l name
                set -a lines $name
            end <$file
        end
        if string match -qr '^[0-9]{1,12}$' -- "$lines[1]"; and test $lines[1] -ge (date +%s)
            printf '%s\n' $lines[2..-1]
        else
            command mesosctl complete $kind $__mesosctl_along </dev/null 2>/dev/null
        end
    end
end

complete -c mesosctl -f
complete -c mesosctl -n '__mesosctl_at "" 0' -a apply -d 'Bring quotas, weights and reservations to what a file says, step by step.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a completion -d 'Write the completion of a shell.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a context -d 'Keep settings under a name, and choose one by --context, MESOSCTL_CONTEXT or mesosctl context use.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a diff -d 'Say what of a cluster is not as a file wants it: quotas, weights, reservations.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a export -d 'Write the quotas, weights and dynamic reservations of a cluster as TOML, for diff and apply.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a offers -d 'See who is offered what and why, and act upon an offer.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a quota -d 'Guarantee roles a share of the cluster.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a ratelimit -d 'Throttle frameworks so that others are heard.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a reservations -d 'Show what is reserved on which agent, by whom, and how much of it is in use.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a reserve -d 'Reserve resources of an agent for a role, and wait until master and agent both show it.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a snapshot -d 'Keep a whole cluster in a file: agents, frameworks and what they hold, offers, quotas, weights, flags.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a unreserve -d 'Undo dynamic reservations: a refined one falls back to the role below it.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a volumes -d 'Create, destroy and list persistent volumes.'
complete -c mesosctl -n '__mesosctl_at "" 0' -a whatif -d 'Say what changes would do: who gains, who loses, who starves, and what a master would refuse.'
complete -c mesosctl -n '__mesosctl_at ""' -l version -d 'Show the version.'
complete -c mesosctl -l master -x -a 'fake: http:// https:// zk:// file:///' -d 'http://host:5050, several with commas, zk://host1,host2/mesos, file:///path that holds one of these, or fake:. Without a port, http:// means 80 and https:// 443, and a bare host 5050. [env: MESOSCTL_MASTER]'
complete -c mesosctl -l context -x -a '(__mesosctl_names context)' -d 'Settings kept under this name; see mesosctl context. [env: MESOSCTL_CONTEXT]'
complete -c mesosctl -s o -l output -x -a 'table wide json jsonl csv name' -d 'How data is written; table unless given.'
complete -c mesosctl -l timeout -x -d 'Deadline over all attempts: 30 (seconds), 500ms, 5s or 2m; 30s unless given.'
complete -c mesosctl -l principal -x -d 'Who asks. [env: MESOSCTL_PRINCIPAL]'
complete -c mesosctl -l secret-file -r -F -d 'Holds the principal'\''s secret. [env: MESOSCTL_SECRET, the secret itself]'
complete -c mesosctl -l token-file -r -F -d 'Holds a token, instead of principal and secret. [env: MESOSCTL_TOKEN, the token itself]'
complete -c mesosctl -l token-scheme -x -a 'bearer dcos' -d 'How the token is shown: '\''Bearer TOKEN'\'' unless given, or '\''token=TOKEN'\'', which every DC/OS takes. [env: MESOSCTL_TOKEN_SCHEME]'
complete -c mesosctl -l secret-from -x -a 'prompt keyring' -d 'Ask for the secret on the terminal, or take it from the system'\''s keyring.'
complete -c mesosctl -l cacert -r -F -d 'Authorities to trust instead of the system'\''s; with zk://, masters are then spoken to by https.'
complete -c mesosctl -l cert -r -F -d 'Certificate of this client.'
complete -c mesosctl -l key -r -F -d 'Key of that certificate.'
complete -c mesosctl -l api -x -a 'auto v0 v1' -d 'Which of the master'\''s interfaces makes changes; auto unless given.'
complete -c mesosctl -l no-wait -d 'Do not read an accepted change back.'
complete -c mesosctl -s y -l yes -d 'Answer yes to every question.'
complete -c mesosctl -l dry-run -d 'Send nothing but reads, and say what a change would do.'
complete -c mesosctl -s q -l quiet -d 'No notes, only data and errors.'
complete -c mesosctl -s v -l verbose -d 'Show each exchange; -vv also headers, bodies, and where a bug arose.'
complete -c mesosctl -s h -l help -d 'Show this message and exit.'
complete -c mesosctl -n '__mesosctl_at "apply"' -s f -l file -r -F -d 'The wanted state in TOML, as export writes it; - reads it.'
complete -c mesosctl -n '__mesosctl_at "apply"' -l prune -d 'What the file does not name should go, in the sections that it has.'
complete -c mesosctl -n '__mesosctl_at "apply"' -l restart -d 'Forget an interrupted apply, and plan anew.'
complete -c mesosctl -n '__mesosctl_at "apply"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "apply"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "apply"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "completion" 0' -a 'bash zsh fish'
complete -c mesosctl -n '__mesosctl_at "completion"' -l server -d 'That of mesos-fake-master.'
complete -c mesosctl -n '__mesosctl_at "context" 0' -a list -d 'Show every context; the current one is marked.'
complete -c mesosctl -n '__mesosctl_at "context" 0' -a remove -d 'Remove contexts; none is removed unless every one of them is there.'
complete -c mesosctl -n '__mesosctl_at "context" 0' -a set -d 'Make a context, or change one; everything else in the file stays as it is, comments included.'
complete -c mesosctl -n '__mesosctl_at "context" 0' -a show -d 'Show the settings in effect: flags before the environment before the context before defaults.'
complete -c mesosctl -n '__mesosctl_at "context" 0' -a use -d 'Make a context the current one.'
complete -c mesosctl -n '__mesosctl_at "context remove" 0+' -a '(__mesosctl_names context)'
complete -c mesosctl -n '__mesosctl_at "context set" 0' -a '(__mesosctl_names context)'
complete -c mesosctl -n '__mesosctl_at "context set" 1+' -a 'master= output= timeout= principal= secret secret-file= token token-file= token-scheme= secret-from= cacert= cert= key= api= no-wait= dry-run= quiet= verbose='
complete -c mesosctl -n '__mesosctl_at "context set"' -l unset -x -a 'master output timeout principal secret secret-file token token-file token-scheme secret-from cacert cert key api no-wait dry-run quiet verbose' -d 'Take a setting away; repeat.'
complete -c mesosctl -n '__mesosctl_at "context show" 0' -a '(__mesosctl_names context)'
complete -c mesosctl -n '__mesosctl_at "context show"' -l origin -d 'Also where each comes from.'
complete -c mesosctl -n '__mesosctl_at "context use" 0' -a '(__mesosctl_names context)'
complete -c mesosctl -n '__mesosctl_at "diff"' -s f -l file -r -F -d 'The wanted state in TOML, as export writes it; - reads it.'
complete -c mesosctl -n '__mesosctl_at "diff"' -l prune -d 'What the file does not name should go, in the sections that it has.'
complete -c mesosctl -n '__mesosctl_at "diff"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "export"' -s f -l file -r -F -d 'Write it here; standard output unless given, and for -.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a explain -d 'Say why a role or framework is or is not offered anything, reason by reason with figures.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a list -d 'Show who holds which offers.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a reserve -d 'Build and check the ACCEPT call that reserves resources of an offer; nothing is sent.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a simulate -d 'Play a cluster file: who is chosen, shares, dominant shares and totals after each offer taken.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a take -d 'Reserve or unreserve as a framework does: subscribe, wait for a fitting offer, act, leave.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a unreserve -d 'Build and check the ACCEPT call that unreserves resources of an offer; nothing is sent.'
complete -c mesosctl -n '__mesosctl_at "offers" 0' -a watch -d 'Show offers as they come (+) and go (-), a line each.'
complete -c mesosctl -n '__mesosctl_at "offers explain" 0' -a '(__mesosctl_names role framework)'
complete -c mesosctl -n '__mesosctl_at "offers list"' -l framework -x -a '(__mesosctl_names framework)' -d 'Only of this framework, by id or name.'
complete -c mesosctl -n '__mesosctl_at "offers list"' -l role -x -a '(__mesosctl_names role)' -d 'Only in this role.'
complete -c mesosctl -n '__mesosctl_at "offers list"' -l agent -x -a '(__mesosctl_names agent)' -d 'Only of this agent: its id, the beginning or end of one, or a host name.'
complete -c mesosctl -n '__mesosctl_at "offers reserve"' -l offer -r -F -d 'An Offer or an OFFERS event in JSON; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "offers reserve"' -l id -x -d 'Which offer, where the file holds several.'
complete -c mesosctl -n '__mesosctl_at "offers reserve"' -l for -x -a '(__mesosctl_names role)' -d 'The role that owns it; the offer'\''s unless given.'
complete -c mesosctl -n '__mesosctl_at "offers reserve"' -l label -x -d 'A label of the reservation. Repeat.'
complete -c mesosctl -n '__mesosctl_at "offers simulate" 0' -F
complete -c mesosctl -n '__mesosctl_at "offers simulate"' -l steps -x -d 'Stop after so many offers taken.'
complete -c mesosctl -n '__mesosctl_at "offers simulate"' -l svg -r -F -d 'Also draw dominant shares as a picture; - writes only that.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l role -x -a '(__mesosctl_names role)' -d 'The role to subscribe with.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l reserve -x -d 'Reserve this for the role. Repeat.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l unreserve -x -d 'Give this reservation back. Repeat.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l agent -x -a '(__mesosctl_names agent)' -d 'Only of this agent: its id, the beginning or end of one, or a host name.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l label -x -d 'A label of the reservation. Repeat.'
complete -c mesosctl -n '__mesosctl_at "offers take"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "offers unreserve"' -l offer -r -F -d 'An Offer or an OFFERS event in JSON; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "offers unreserve"' -l id -x -d 'Which offer, where the file holds several.'
complete -c mesosctl -n '__mesosctl_at "offers unreserve"' -l for -x -a '(__mesosctl_names role)' -d 'The role that owns it; the offer'\''s unless given.'
complete -c mesosctl -n '__mesosctl_at "offers watch"' -l framework -x -a '(__mesosctl_names framework)' -d 'Only of this framework, by id or name.'
complete -c mesosctl -n '__mesosctl_at "offers watch"' -l role -x -a '(__mesosctl_names role)' -d 'Only in this role.'
complete -c mesosctl -n '__mesosctl_at "offers watch"' -l agent -x -a '(__mesosctl_names agent)' -d 'Only of this agent: its id, the beginning or end of one, or a host name.'
complete -c mesosctl -n '__mesosctl_at "offers watch"' -l every -x -d 'How often the master is asked: 1, 500ms or 5s.'
complete -c mesosctl -n '__mesosctl_at "offers watch"' -l changes -x -d 'End after so many; at Ctrl-C unless given.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a check -d 'Say whether a quota would be accepted, rule by rule, and how much room there is.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a list -d 'Show every role with quota.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a remove -d 'Remove the quota of roles; none is removed unless every one of them has quota.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a set -d 'Guarantee resources to a role that has no quota yet, and limit what it may use.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a show -d 'Show the quota of one role and what it uses.'
complete -c mesosctl -n '__mesosctl_at "quota" 0' -a update -d 'Change the quota of a role, or only its limits.'
complete -c mesosctl -n '__mesosctl_at "quota check" 0' -a '(__mesosctl_names role)'
complete -c mesosctl -n '__mesosctl_at "quota check"' -l limit -x -d 'Upper bounds, '\''cpus:16;mem:8GiB'\'', or none. Without it a new quota is limited as POST /quota of the master does it (from 1.9 on to the guarantee, before that not at all), and one that is there keeps its limits; those that equal the guarantee go on to.'
complete -c mesosctl -n '__mesosctl_at "quota check"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "quota remove" 0+' -a '(__mesosctl_names role)'
complete -c mesosctl -n '__mesosctl_at "quota remove"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "quota set" 0' -a '(__mesosctl_names role)'
complete -c mesosctl -n '__mesosctl_at "quota set"' -l limit -x -d 'Upper bounds, '\''cpus:16;mem:8GiB'\'', or none. Without it a new quota is limited as POST /quota of the master does it (from 1.9 on to the guarantee, before that not at all), and one that is there keeps its limits; those that equal the guarantee go on to.'
complete -c mesosctl -n '__mesosctl_at "quota set"' -l force -d 'Pass the capacity check, and with --limit the check of use, and nothing else.'
complete -c mesosctl -n '__mesosctl_at "quota set"' -s f -l file -r -F -d 'Read the documented JSON; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "quota set"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "quota set"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "quota show" 0' -a '(__mesosctl_names role)'
complete -c mesosctl -n '__mesosctl_at "quota update" 0' -a '(__mesosctl_names role)'
complete -c mesosctl -n '__mesosctl_at "quota update"' -l limit -x -d 'Upper bounds, '\''cpus:16;mem:8GiB'\'', or none. Without it a new quota is limited as POST /quota of the master does it (from 1.9 on to the guarantee, before that not at all), and one that is there keeps its limits; those that equal the guarantee go on to.'
complete -c mesosctl -n '__mesosctl_at "quota update"' -l force -d 'Pass the checks of capacity and use.'
complete -c mesosctl -n '__mesosctl_at "quota update"' -l create -d 'Also for a role without quota.'
complete -c mesosctl -n '__mesosctl_at "quota update"' -s f -l file -r -F -d 'Read the documented JSON; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "quota update"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "quota update"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a default -d 'Set the rate and the capacity that everybody shares who is not listed, and show the diff.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a plan -d 'Sum up the capacities: the memory that full queues take, and what is left.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a set -d 'Give a principal a limit of its own in a file of rate limits, and show the diff.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a show -d 'Show the limits a master was started with, beside what each principal sends.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a simulate -d 'Play traffic through a file of rate limits: who waits, how long, and who overflows when.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a suggest -d 'Suggest limits from the traffic of a while, as a file that --rate_limits takes.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a unset -d 'Take a principal'\''s entry out of a file of rate limits, and show the diff.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a validate -d 'Check a file of rate limits: everything that stops a master, and everything unwise.'
complete -c mesosctl -n '__mesosctl_at "ratelimit" 0' -a watch -d 'Watch the messages of each principal: received, processed, waiting, how fast, and until when there is room.'
complete -c mesosctl -n '__mesosctl_at "ratelimit default"' -s f -l file -r -F -d 'The file to edit; made if it is not there.'
complete -c mesosctl -n '__mesosctl_at "ratelimit default"' -l qps -x -d 'Messages a second; never throttled without.'
complete -c mesosctl -n '__mesosctl_at "ratelimit default"' -l capacity -x -d 'Messages that may wait; any number without.'
complete -c mesosctl -n '__mesosctl_at "ratelimit default"' -l none -d 'No default: those not listed are not throttled.'
complete -c mesosctl -n '__mesosctl_at "ratelimit plan" 0' -F
complete -c mesosctl -n '__mesosctl_at "ratelimit plan"' -l memory -x -d 'What the master may use for queues: its limit less what it uses anyway.'
complete -c mesosctl -n '__mesosctl_at "ratelimit plan"' -l message-size -x -d 'The average size of a message.'
complete -c mesosctl -n '__mesosctl_at "ratelimit set"' -s f -l file -r -F -d 'The file to edit; made if it is not there.'
complete -c mesosctl -n '__mesosctl_at "ratelimit set"' -l qps -x -d 'Messages a second; never throttled without.'
complete -c mesosctl -n '__mesosctl_at "ratelimit set"' -l capacity -x -d 'Messages that may wait; any number without.'
complete -c mesosctl -n '__mesosctl_at "ratelimit simulate" 0' -F
complete -c mesosctl -n '__mesosctl_at "ratelimit simulate"' -l traffic -x -d 'PRINCIPAL=RATE/s*SECONDS@START or PRINCIPAL=COUNT@START; - is no principal. Repeat.'
complete -c mesosctl -n '__mesosctl_at "ratelimit simulate"' -l svg -r -F -d 'Draw the queues into a file; - writes only that.'
complete -c mesosctl -n '__mesosctl_at "ratelimit suggest"' -l for -x -d 'How long to watch, such as 10m.'
complete -c mesosctl -n '__mesosctl_at "ratelimit suggest"' -l interval -x -d 'Time between readings, such as 5s.'
complete -c mesosctl -n '__mesosctl_at "ratelimit suggest"' -l headroom -x -d 'The rate, as a multiple of the busiest interval.'
complete -c mesosctl -n '__mesosctl_at "ratelimit suggest"' -l burst -x -d 'The capacity, as so much time at that rate.'
complete -c mesosctl -n '__mesosctl_at "ratelimit suggest"' -s f -l file -r -F -d 'Write the limits there; standard output unless given, and for -.'
complete -c mesosctl -n '__mesosctl_at "ratelimit unset"' -s f -l file -r -F -d 'The file to edit; made if it is not there.'
complete -c mesosctl -n '__mesosctl_at "ratelimit validate" 0' -F
complete -c mesosctl -n '__mesosctl_at "ratelimit validate"' -l live -d 'Ask the master which principals its frameworks use.'
complete -c mesosctl -n '__mesosctl_at "ratelimit validate"' -l strict -d 'Warnings make the exit status 1.'
complete -c mesosctl -n '__mesosctl_at "ratelimit watch"' -l interval -x -d 'Time between readings, such as 5s.'
complete -c mesosctl -n '__mesosctl_at "ratelimit watch"' -l count -x -d 'End after so many readings; else at Ctrl-C.'
complete -c mesosctl -n '__mesosctl_at "reservations"' -l role -x -a '(__mesosctl_names role)' -d 'Only this owner and roles below it.'
complete -c mesosctl -n '__mesosctl_at "reservations"' -l agent -x -a '(__mesosctl_names agent)' -d 'Only this agent.'
complete -c mesosctl -n '__mesosctl_at "reservations"' -l tree -d 'By role, with what lies below each.'
complete -c mesosctl -n '__mesosctl_at "reservations"' -l wait-for -x -d 'Wait until --agent has this much reserved for --role, or none; then show it.'
complete -c mesosctl -n '__mesosctl_at "reservations"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "reserve" 0' -a '(__mesosctl_names agent)'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l role -x -a '(__mesosctl_names role)' -d 'The owner.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l under -x -a '(__mesosctl_names role)' -d 'A role it is taken from and falls back to; repeat, top role first.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l label -x -d 'A label of the reservation; repeat.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l reserver -x -d 'The reservation'\''s principal; who asks, unless given.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l any -d 'On the agent with most room for it.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l count -x -d 'On N agents, each the whole of it.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l attribute -x -d 'Only agents that have it; repeat.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -s f -l file -r -F -d 'Read the documented JSON instead of RESOURCES; - is stdin.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "reserve"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "snapshot"' -s f -l file -r -F -d 'Write it here; standard output unless given, and for -.'
complete -c mesosctl -n '__mesosctl_at "snapshot"' -l from -r -F -d 'Take a snapshot file instead of asking a master; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "snapshot"' -l anonymise -l anonymize -d 'Keep shapes and amounts, drop names.'
complete -c mesosctl -n '__mesosctl_at "snapshot"' -l compare -r -F -d 'Say what has changed since this snapshot, and write nothing; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "unreserve" 0' -a '(__mesosctl_names agent)'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l role -x -a '(__mesosctl_names role)' -d 'The owner.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l under -x -a '(__mesosctl_names role)' -d 'A role it is taken from and falls back to; repeat, top role first.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l label -x -d 'A label of the reservation; repeat.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l reserver -x -d 'Only what this principal reserved; anybody'\''s else.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l all -d 'All that the role has, on AGENT or everywhere.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -s f -l file -r -F -d 'Read the documented JSON instead of RESOURCES; - is stdin.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "unreserve"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "volumes" 0' -a create -d 'Make a persistent volume of reserved disk, and wait until master and agent both show it.'
complete -c mesosctl -n '__mesosctl_at "volumes" 0' -a destroy -d 'Destroy a persistent volume and everything in it; its disk stays reserved.'
complete -c mesosctl -n '__mesosctl_at "volumes" 0' -a list -d 'Show persistent volumes and whether tasks use them.'
complete -c mesosctl -n '__mesosctl_at "volumes create" 0' -a '(__mesosctl_names agent)'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l role -x -a '(__mesosctl_names role)' -d 'The owner.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l under -x -a '(__mesosctl_names role)' -d 'A role it is taken from and falls back to; repeat, top role first.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l label -x -d 'A label of the reservation; repeat.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l reserver -x -d 'The reservation'\''s principal; who asks, unless given.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l path -x -d 'Where containers find it; data unless given.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "volumes create"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "volumes destroy" 0' -a '(__mesosctl_names agent)'
complete -c mesosctl -n '__mesosctl_at "volumes destroy"' -l role -x -a '(__mesosctl_names role)' -d 'The owner.'
complete -c mesosctl -n '__mesosctl_at "volumes destroy"' -l trust-master -d 'Do not ask the agent itself whether it has done it.'
complete -c mesosctl -n '__mesosctl_at "volumes destroy"' -l report -r -F -d 'With --dry-run: also write the forecast as a page, for a ticket; - writes only that, to standard output.'
complete -c mesosctl -n '__mesosctl_at "volumes list"' -l role -x -a '(__mesosctl_names role)' -d 'Only this owner and roles below it.'
complete -c mesosctl -n '__mesosctl_at "volumes list"' -l agent -x -a '(__mesosctl_names agent)' -d 'Only this agent.'
complete -c mesosctl -n '__mesosctl_at "whatif" 0+' -a 'quota: limit: remove-quota: weight: reserve: unreserve: create: destroy:'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l from -r -F -d 'A snapshot or a cluster file instead of a live master; - is standard input.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l lose-agent -x -a '(__mesosctl_names agent)' -d 'This agent is gone. Repeat.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l lose-fraction -x -d 'This part of all agents is gone, 0.2 or 20% for a fifth, rounded up to whole agents: evenly spread in the order of host names, the same every time.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l add-agent -x -d 'An agent like this registers. Repeat.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l count -x -d 'How many of each --add-agent; 1 unless given.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l attribute -x -d 'Of the agents that are added. Repeat.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l lose-framework -x -a '(__mesosctl_names framework)' -d 'This framework is gone. Repeat.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l force -d 'Pass the capacity check of quota.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l allow-new-resource -d 'Take a name of a resource that no agent has yet; it is refused otherwise.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l cycles -x -d 'Allocations before, and at least after.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l assume -x -a 'hold accept' -d 'Frameworks hold what they are offered, or run tasks on all of it.'
complete -c mesosctl -n '__mesosctl_at "whatif"' -l report -r -F -d 'Also write the forecast as a page, for a ticket; - writes only that, to standard output.'
