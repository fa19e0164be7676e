# fish completion for mesos-fake-master; made from its commands by python -m mesosctl.cli.reference

# Find the command among the words so far, how many further words there are, and what goes along to mesosctl.
function __mesos_fake_master_walk
    set -l line (commandline -cp | string collect)
    if test "$line" = "$__mesos_fake_master_line"; and set -q __mesos_fake_master_path
        return
    end
    set -g __mesos_fake_master_line $line
    set -g __mesos_fake_master_path ""
    set -g __mesos_fake_master_count 0
    set -g __mesos_fake_master_along
    set -g __mesos_fake_master_master "$MESOSCTL_MASTER"
    set -g __mesos_fake_master_context "$MESOSCTL_CONTEXT"
    set -l skip ""
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test -z "$skip"; and string match -q -- '--*=*' $word
            set -l parts (string split -m 1 = -- $word)
            set skip $parts[1]
            set word $parts[2]
        else if test -z "$skip"
            set -l deeper (string trim -- "$__mesos_fake_master_path $word")
            if contains -- $word --acls --agent --agent-reregister-timeout --allocation-interval --allocator --allocator-agent-recovery-factor --allocator-recovery-timeout --cluster --cluster-name --credentials --ip --lendable-names --max-operator-event-stream-subscribers --mesos-version --port --priorities --rate-limits --recovery-agent-removal-limit --registry --revocation-grace-period --roles --ssl-ca-file --ssl-cert-file --ssl-key-file --weights --work-dir
                set skip $word
            else if string match -q -- '-*' $word
                continue
            else if test $__mesos_fake_master_count -eq 0; and contains -- $deeper 
                set -g __mesos_fake_master_path $deeper
            else
                set -g __mesos_fake_master_count (math $__mesos_fake_master_count + 1)
            end
            continue
        end
        if contains -- $skip 
            set -a __mesos_fake_master_along $skip (string replace -r '^~/' "$HOME/" -- $word)
        end
        switch $skip
            case --master
                set -g __mesos_fake_master_master $word
            case --context
                set -g __mesos_fake_master_context $word
        end
        set skip ""
    end
end

# Whether the words so far lead to a command, with so many further words after it; 1+ means one or more.
function __mesos_fake_master_at
    __mesos_fake_master_walk
    test "$__mesos_fake_master_path" = "$argv[1]"; or return 1
    switch "$argv[2]"
        case ''
            return 0
        case '*+'
            test $__mesos_fake_master_count -ge (string trim -c + -- $argv[2])
        case '*'
            test $__mesos_fake_master_count -eq $argv[2]
    end
end

# Names of some kinds that mesosctl keeps; it is asked only where they are too old.
function __mesos_fake_master_names
    __mesos_fake_master_walk
    set -l where default
    if test -n "$__mesos_fake_master_master"
        set -l address (string replace -r '//.*@' '//' -- $__mesos_fake_master_master)
        set where master-(string replace -ra '[^A-Za-z0-9._-]' _ -- $address)
    else if test -n "$__mesos_fake_master_context"
        set where context-$__mesos_fake_master_context
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
            command mesos-fake-master complete $kind $__mesos_fake_master_along </dev/null 2>/dev/null
        end
    end
end

complete -c mesos-fake-master -f
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l agent -x -d 'Register an agent, as '\''cpus:12;mem:6144'\''. Repeat.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l cluster -r -F -d 'Take agents and flags from a cluster file (TOML), or a whole cluster from a snapshot (JSON).'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l mesos-version -x -a '1.4 1.11' -d 'The master to be. [default: 1.4]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l ip -x -d 'The address to listen on; this machine alone reaches it, unless another is given.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l port -x -d 'The port; 0 takes a free one.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l registry -x -a 'in_memory sqlite' -d 'Where quotas and weights are kept. [default: in_memory]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l work-dir -x -a '(__fish_complete_directories)' -d 'Where a sqlite registry lives.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l roles -x -d 'The only roles that exist beside '\''*'\''.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l weights -x -d 'Weights until some are set.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l credentials -r -F -d 'Principals and secrets.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l acls -r -F -d 'Who may do what.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l rate-limits -r -F -d 'How fast calls of frameworks are processed.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l rate-limit-http -l no-rate-limit-http -d 'Whether rate limits act on HTTP frameworks; on a real master they do not.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l authenticate-http-readonly -d 'Ask for credentials where one only reads.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l authenticate-http-readwrite -d 'Ask for credentials where one changes.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l authenticate-http-frameworks -d 'Ask frameworks for credentials.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l max-operator-event-stream-subscribers -x -d 'Operators that may listen at once; the oldest makes room. [default: 1000]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l allocation-interval -x -d 'Time between allocations. [default: 1secs]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l allocator-agent-recovery-factor -x -d 'With quota, a restarted master offers nothing until so many agents are back.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l allocator-recovery-timeout -x -d '…or until so much time has passed. [default: 10mins]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l agent-reregister-timeout -x -d 'After it, agents not back are unreachable.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l recovery-agent-removal-limit -x -d '…unless they are more than that: then the master ends.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l ssl-cert-file -r -F -d 'Speak https, with this certificate in PEM.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l ssl-key-file -r -F -d 'Its key; without one it is in the same file.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l ssl-ca-file -r -F -d 'Authorities whose client certificates are taken.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l ssl-require-client-cert -d 'Turn away who has no such certificate.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l allocator -x -d 'Who is offered what. [default: hierarchical]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l priorities -x -d 'Strict priority: the higher is served first.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l preemption -d 'Strict priority: revoke tasks of lower priority where they are asked for.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l revocation-grace-period -x -d 'How long a revoked task may take to end. [default: 5secs]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l oversubscribe-reservations -d 'Lend idle reservations to others, as revocable. No Mesos does.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l lendable-names -x -d 'What of them is lent. [default: cpus,mem]'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l cluster-name -x -d 'The name that /state shows.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l version -d 'Show the version and exit.'
complete -c mesos-fake-master -n '__mesos_fake_master_at ""' -l help -d 'Show this message and exit.'
